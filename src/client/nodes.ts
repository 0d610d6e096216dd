import { mkdirSync } from 'node:fs';
import type { Node as ClusterNode } from '../core/node/node.ts';
import { type NodeView, viewNode } from '../core/node/view.ts';
import { refuse } from '../core/refusal.ts';
import { takeExclusiveLock } from '../log/exclusive-lock.ts';
import type { Nodes } from './api.ts';
import { defaultNodeName } from './capacity.ts';
import { type Embedded, execute } from './embedded.ts';
import { RefusalError } from './refusal-error.ts';
import { startNode } from './start-node.ts';

type LiveNodeView = NodeView & { readonly agentRunning: boolean };

export function createNodes(embedded: Embedded): Nodes {
  const { plane, host } = embedded;
  const by = embedded.actor.name;
  const view = async (node: ClusterNode): Promise<LiveNodeView> => ({
    ...viewNode(node),
    agentRunning: await isServed(embedded, node.name),
  });
  return {
    async list() {
      await plane.catchUp();
      return Promise.all([...plane.state.nodes.values()].map(view));
    },
    async get(name) {
      await plane.catchUp();
      const node = plane.state.nodes.get(name);
      if (node === undefined)
        throw new RefusalError(refuse('NOT_FOUND', `there is no node ${name}`, { hint: 'yard nodes lists them' }));
      return view(node);
    },
    async drain(name, options) {
      await execute(embedded, { kind: 'DrainNode', node: name, reason: options?.reason ?? `drained by ${by}`, by });
    },
    async resume(name) {
      await execute(embedded, { kind: 'ResumeNode', node: name, by });
    },
    async remove(name) {
      await execute(embedded, { kind: 'RemoveNode', node: name, by });
    },
    isRunning: (name) => isServed(embedded, name),
    start: (options) => startNode(embedded, options ?? {}),
    defaultName: () => defaultNodeName(host),
  };
}

/** True when some process holds the node's name, this one included. */
async function isServed({ home, host }: Embedded, name: string): Promise<boolean> {
  const directory = `${home}/nodes/${name}`;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const lock = await takeExclusiveLock(`${directory}/lock.db`, host);
  lock?.release();
  return lock === null;
}
