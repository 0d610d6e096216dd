/** A machine that runs the agent, as the control plane knows it. */
export interface Node {
  readonly name: string;
  /** Random, one per agent process: the newest one speaks for the node. */
  instance: string;
  bootId: string;
  capacity: Capacity;
  advertise: string;
  platform: string;
  version: string;
  presence: { readonly kind: 'up' } | { readonly kind: 'down'; readonly sinceMs: number };
  /** No new work while set. */
  drain: { readonly reason: string; readonly by: string } | null;
  joinedAtMs: number;
  /** What is taken, by task key text. */
  readonly allocations: Map<string, NodeAllocation>;
}

export interface NodeAllocation {
  readonly cpus: number;
  readonly memoryMiB: number;
  readonly devices: readonly string[];
  /** True when the attempt has ended but its processes were not confirmed dead. */
  readonly held: boolean;
}

/** What a node offers, after the limits a person set. */
export interface Capacity {
  readonly cpus: number;
  readonly memoryMiB: number;
  readonly gpus: readonly Gpu[];
  readonly labels: Readonly<Record<string, string>>;
}

export interface Gpu {
  readonly uuid: string;
  readonly index: number;
  readonly name: string;
  readonly memoryMiB: number;
}

/** What is free right now. */
export interface FreeCapacity {
  readonly cpus: number;
  readonly memoryMiB: number;
  readonly gpus: readonly Gpu[];
}

export function freeCapacity(node: Node): FreeCapacity {
  let { cpus, memoryMiB } = node.capacity;
  const taken = new Set<string>();
  for (const allocation of node.allocations.values()) {
    cpus = exactCores(cpus - allocation.cpus);
    memoryMiB -= allocation.memoryMiB;
    for (const device of allocation.devices) taken.add(device);
  }
  const { gpus } = node.capacity;
  return { cpus, memoryMiB, gpus: taken.size === 0 ? gpus : gpus.filter((gpu) => !taken.has(gpu.uuid)) };
}

/** What is left when this is given away too. */
export function lessAllocation(free: FreeCapacity, given: Omit<NodeAllocation, 'held'>): FreeCapacity {
  const { devices } = given;
  return {
    cpus: exactCores(free.cpus - given.cpus),
    memoryMiB: free.memoryMiB - given.memoryMiB,
    gpus: devices.length === 0 ? free.gpus : free.gpus.filter((gpu) => !devices.includes(gpu.uuid)),
  };
}

/** Shares of cores add up as decimals do: ten tenths are one core. */
function exactCores(cpus: number): number {
  return Math.round(cpus * 1e6) / 1e6;
}
