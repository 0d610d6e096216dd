import { freeCapacity, type Gpu, type Node } from './node.ts';

/** A node as `--json`, the API and the SDK show it. */
export interface NodeView {
  readonly id: string;
  readonly state: 'READY' | 'DRAINING' | 'DRAINED' | 'DOWN';
  readonly reason: string | null;
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

export function viewNode(node: Node): NodeView {
  const free = freeCapacity(node);
  const { cpus, memoryMiB, gpus, labels } = node.capacity;
  const tasks = [...node.allocations.keys()].sort();
  return {
    id: node.name,
    state: nodeState(node),
    reason: node.drain?.reason ?? null,
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
  if (node.drain === null) return 'READY';
  return node.allocations.size > 0 ? 'DRAINING' : 'DRAINED';
}
