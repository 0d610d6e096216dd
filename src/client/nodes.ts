import { isAdministrator } from '../core/access/authorize.ts';
import { parseTaskKey } from '../core/job/job.ts';
import { leaseName } from '../core/node/lease-times.ts';
import type { Node as ClusterNode } from '../core/node/node.ts';
import { viewNode } from '../core/node/view.ts';
import { refuse } from '../core/refusal.ts';
import type { ListedNode, Nodes } from './api.ts';
import { defaultNodeName } from './capacity.ts';
import { type Embedded, execute } from './embedded.ts';
import { RefusalError } from './refusal-error.ts';
import { isServedHere } from './served-here.ts';
import { startNode } from './start-node.ts';
import { sees } from './visible.ts';

export function createNodes(embedded: Embedded): Nodes {
  const { plane, host } = embedded;
  const by = embedded.actor.name;
  return {
    async list() {
      await plane.catchUp();
      return viewNodes(embedded, [...plane.state.nodes.values()]);
    },
    async get(name) {
      await plane.catchUp();
      const node = plane.state.nodes.get(name);
      if (node === undefined)
        throw new RefusalError(refuse('NOT_FOUND', `there is no node ${name}`, { hint: 'yard nodes lists them' }));
      const [view] = await viewNodes(embedded, [node]);
      return view as ListedNode;
    },
    async drain(name, options) {
      const { reason = `drained by ${by}`, deadlineMs = null } = options ?? {};
      await execute(embedded, { kind: 'DrainNode', node: name, reason, by, deadlineMs });
    },
    async resume(name) {
      await execute(embedded, { kind: 'ResumeNode', node: name, by });
    },
    async remove(name) {
      await execute(embedded, { kind: 'RemoveNode', node: name, by });
    },
    isRunning: (name) => isServedHere(embedded, name),
    start: (options) => startNode(embedded, options ?? {}),
    defaultName: () => defaultNodeName(host),
  };
}

/** What others run on it is told to nobody but them; how much of it is free is. */
function showsTask(embedded: Embedded, task: string): boolean {
  if (isAdministrator(embedded.plane.state, embedded.actor)) return true;
  const job = embedded.plane.state.jobs.get(parseTaskKey(task)?.job ?? '');
  return job !== undefined && sees(embedded, job.project);
}

/** A node that joins over the network is served as long as it is heard; another, as long as a process holds its name. */
async function viewNodes(embedded: Embedded, nodes: readonly ClusterNode[]): Promise<readonly ListedNode[]> {
  const { plane, host } = embedded;
  const leases = nodes.some(({ leased }) => leased) ? await plane.log.readLeases() : [];
  const heard = new Map(leases.map(({ name, heardAtMs }) => [name, heardAtMs]));
  const time = { atMs: host.clock.wallMs(), nowMs: plane.nowMs() };
  return Promise.all(
    nodes.map(async (node) => {
      const heardAtMs = node.leased ? (heard.get(leaseName(node.name)) ?? null) : null;
      const view = viewNode(plane.state, node, time);
      return {
        ...view,
        tasks: view.tasks.filter((task) => showsTask(embedded, task)),
        agentRunning: node.leased ? node.presence.kind === 'up' : await isServedHere(embedded, node.name),
        heardAt: heardAtMs === null ? null : new Date(time.atMs + heardAtMs - time.nowMs).toISOString(),
      };
    }),
  );
}
