import type { Job, TaskKey } from '../job/job.ts';
import type { orderNames } from '../job/lifecycle.ts';
import type { JobSpec, WorkspaceRef } from '../job/spec.ts';
import type { Settings } from '../profile/settings.ts';
import { boxesFor } from '../secrets/openers.ts';
import type { State } from '../state.ts';

/** "For this attempt be at this step": level-triggered, so that a lost or repeated message changes nothing. */
export interface Order {
  readonly key: TaskKey;
  readonly step: keyof typeof orderNames;
  /** The control plane has seen the node begin with this attempt: without records of it the node must not start it again. */
  readonly begun: boolean;
  /** Set at `collect` when a process may still run: stop it first. */
  readonly stop: { readonly graceMs: number } | null;
  readonly task: TaskOrder;
}

/** All that a node needs to know of a task. The same for every step of an attempt, save `peers`. */
export interface TaskOrder {
  readonly spec: JobSpec;
  readonly settings: Settings;
  readonly workspace: WorkspaceRef | null;
  readonly devices: readonly string[];
  readonly cpus: number;
  readonly memoryMiB: number;
  /** Array size; null where the job is no array. */
  readonly count: number | null;
  /** Address of rank 0, once every rank is prepared. */
  readonly rendezvous: { readonly address: string; readonly port: number } | null;
  readonly owner: string;
  readonly project: string;
  /** The secrets that it names, each sealed to the node, by name; the node keeps the others itself. */
  readonly boxes: Readonly<Record<string, string>>;
}

/** Every order for a node, by task key text. */
export function ordersFor(state: State, node: string): ReadonlyMap<string, Order> {
  const orders = new Map<string, Order>();
  for (const key of state.nodes.get(node)?.allocations.keys() ?? []) {
    const [job] = key.split('.');
    const order = orderFor(state, state.jobs.get(job ?? ''), key);
    if (order !== null) orders.set(key, order);
  }
  return orders;
}

/** What stands for one task now; null when nothing is to be done for it. */
export function orderFor(state: State, job: Job | undefined, taskKey: string): Order | null {
  const [, index, rank, attempt] = taskKey.split('.').map(Number);
  if (job === undefined || index === undefined || rank === undefined) return null;
  const element = job.elements.get(index);
  if (element?.kind !== 'live' || element.attempt !== attempt) return null;
  const task = element.tasks[rank];
  if (task === undefined || task.step === 'claimed' || task.step === 'ended') return null;
  const first = element.tasks[0];
  const { spec, settings, workspace, owner, project } = job;
  return {
    key: { job: job.id, index, rank, attempt },
    step: task.step,
    begun: task.begun,
    stop: task.step === 'collect' ? element.stop : null,
    task: {
      spec,
      settings,
      workspace,
      devices: task.devices,
      cpus: task.cpus,
      memoryMiB: task.memoryMiB,
      count: settings.array?.size ?? null,
      rendezvous: element.tasks.length > 1 ? rendezvousOf(first?.endpoint ?? null) : null,
      owner,
      project,
      boxes: boxesFor(state, job, task.node),
    },
  };
}

function rendezvousOf(endpoint: string | null): { address: string; port: number } | null {
  const split = endpoint?.lastIndexOf(':') ?? -1;
  if (endpoint === null || split < 0) return null;
  return { address: endpoint.slice(0, split), port: Number(endpoint.slice(split + 1)) };
}
