import type { RunningNode, RunyardClient } from '../../client/api.ts';

/** The node that a waiting command brings along where none runs, for as long as the command lasts. */
export interface OwnNode {
  /** True while this very process serves a node. */
  isOurs(): boolean;
  /** Rejects when the agent ended by itself; otherwise never settles. */
  readonly fault: Promise<never>;
  /** Ends what this process runs of a job, without the log. False when something of it could not be killed. */
  endTasks(job: string, options: { readonly graceMs: number }): Promise<boolean>;
  /** Ends the agent; what still runs is adopted by the next one. */
  close(): Promise<void>;
}

/**
 * Starts a node in this process where none runs. Where another process serves this machine's node, perhaps another
 * waiting command, it queues for the name and goes on with the work should that process end.
 */
export async function bringNode(client: RunyardClient): Promise<OwnNode> {
  // The nodes of a server are those that joined it; a command does not make this machine one of them.
  if (client.server !== null) return noNode;
  const name = client.nodes.defaultName();
  const served = (await client.nodes.list()).filter((node) => node.agentRunning).map((node) => node.id);
  if (served.length > 0 && !served.includes(name)) return noNode;
  const leave = new AbortController();
  let node = served.length > 0 ? null : await client.nodes.start();
  let reject = (_error: Error): void => {};
  const fault = new Promise<never>((_resolve, rejectFault) => {
    reject = rejectFault;
  });
  // Whoever does not look at it any more is not to be told by a crash.
  fault.catch(() => {});
  const watch = (running: RunningNode): void => {
    running.failed.then(reject, reject);
  };
  if (node !== null) watch(node);
  const queued =
    node === null
      ? client.nodes.start({ wait: true, signal: leave.signal }).then((running) => {
          node = running;
          if (running !== null) watch(running);
        }, reject)
      : Promise.resolve();
  return {
    isOurs: () => node !== null,
    fault,
    endTasks: (job, options) => node?.endTasks(job, options) ?? Promise.resolve(true),
    async close() {
      leave.abort();
      await queued;
      await node?.close();
    },
  };
}

export const noNode: OwnNode = {
  isOurs: () => false,
  fault: new Promise(() => {}),
  endTasks: () => Promise.resolve(true),
  close: () => Promise.resolve(),
};
