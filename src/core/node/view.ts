import type { State } from '../state.ts';
import { countSilent } from './loss.ts';
import { freeCapacity, type Gpu, type Node } from './node.ts';

/** What people see of a node, each state with what it means. */
export const nodeStates = {
  READY: 'It takes work.',
  DRAINING: 'It takes no new work; something is still on it.',
  DRAINED: 'It takes no new work, and nothing is on it.',
  SUSPECT: 'It has not been heard of for longer than its lease; it takes no new work, and what it has goes on.',
  LOST: 'It has been silent for so long that its work is decided on without it.',
  DOWN: 'Its agent ended in good order.',
} as const satisfies Record<string, string>;

/** A node as `--json`, the API and the SDK show it. */
export interface NodeView {
  readonly id: string;
  readonly state: keyof typeof nodeStates;
  readonly reason: string | null;
  /** It joined over the network, and is missed when it falls silent. */
  readonly leased: boolean;
  /** When whatever is still on it is stopped; null where it may end by itself. */
  readonly drainDeadlineAt: string | null;
  readonly cpus: number;
  readonly memoryMiB: number;
  readonly gpus: readonly Gpu[];
  readonly labels: Readonly<Record<string, string>>;
  readonly free: { readonly cpus: number; readonly memoryMiB: number; readonly gpus: number };
  readonly tasks: readonly string[];
  readonly advertise: string;
  readonly platform: string;
  readonly version: string;
}

/** `atMs` and `nowMs` are wall clock and log time at the same moment. */
export function viewNode(state: State, node: Node, time: { readonly atMs: number; readonly nowMs: number }): NodeView {
  const free = freeCapacity(node);
  const { cpus, memoryMiB, gpus, labels } = node.capacity;
  const tasks = [...node.allocations.keys()].sort();
  const deadlineAtMs = node.drain?.deadlineAtMs ?? null;
  return {
    id: node.name,
    state: nodeState(node),
    reason: reasonOf(state, node),
    leased: node.leased,
    drainDeadlineAt: deadlineAtMs === null ? null : new Date(time.atMs + deadlineAtMs - time.nowMs).toISOString(),
    cpus,
    memoryMiB,
    gpus,
    labels,
    free: { cpus: free.cpus, memoryMiB: free.memoryMiB, gpus: free.gpus.length },
    tasks,
    advertise: node.advertise,
    platform: node.platform,
    version: node.version,
  };
}

function nodeState(node: Node): NodeView['state'] {
  if (node.presence.kind === 'down') return 'DOWN';
  if (node.presence.kind === 'lost') return 'LOST';
  if (node.presence.kind === 'suspect') return 'SUSPECT';
  if (node.drain === null) return 'READY';
  return node.allocations.size > 0 ? 'DRAINING' : 'DRAINED';
}

function reasonOf(state: State, { presence, drain, allocations }: Node): string | null {
  if (presence.kind === 'suspect' && state.lossHeld !== null) {
    const { silent, of } = countSilent(state);
    return `${silent} of ${of} nodes are silent together: none is declared lost`;
  }
  if (presence.kind === 'lost' && allocations.size > 0) {
    const tasks = allocations.size === 1 ? '1 task' : `${allocations.size} tasks`;
    return `${tasks} may still run there`;
  }
  return drain?.reason ?? null;
}
