import { Agent } from '../agent/agent.ts';
import { fireTimers } from '../control/timers.ts';
import type { NodeOptions, RunningNode } from './api.ts';
import { readCapacity } from './capacity.ts';
import type { Embedded } from './embedded.ts';
import { createEmbeddedChannel } from './embedded-channel.ts';
import { type NodeSeat, takeSeat } from './node-seat.ts';
import { openSealing } from './secrets/sealing.ts';
import { version } from './version.ts';

/** Serves a node in this process. Null when another process has its name and the caller does not wait. */
export async function startNode(embedded: Embedded, options: NodeOptions): Promise<RunningNode | null> {
  const seat = await takeSeat(embedded, options);
  if (seat === null) return null;
  try {
    return await serve(embedded, seat, options);
  } catch (error) {
    await seat.release();
    throw error;
  }
}

async function serve(embedded: Embedded, seat: NodeSeat, options: NodeOptions): Promise<RunningNode> {
  const { host, store, plane } = embedded;
  const { name, directory, instance } = seat;
  const { capacity, problem } = await readCapacity(host, options);
  let fail = (_error: Error): void => {};
  const failed = new Promise<Error>((resolve) => {
    fail = resolve;
  });
  await plane.catchUp();
  const agent = await Agent.start({
    host,
    channel: createEmbeddedChannel(embedded, name, instance),
    store,
    directory,
    node: name,
    instance,
    capacity,
    advertise: options.advertise ?? '127.0.0.1',
    version,
    environment: { ...process.env },
    sealing: await openSealing(embedded.home),
    onFault: (error) => fail(error instanceof Error ? error : new Error(String(error))),
  });
  const timers = new AbortController();
  fireTimers(plane, host, timers.signal).catch(embedded.onFault);
  return {
    name,
    gpuProblem: problem,
    failed,
    liveTasks: () => agent.liveTasks(),
    endTasks: (job, { graceMs }) => agent.endTasks(job, graceMs),
    async close() {
      timers.abort('closed');
      try {
        await agent.close({ leave: true });
      } finally {
        await seat.release();
      }
    },
  };
}
