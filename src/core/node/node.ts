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
  /** It joined over the network and holds a lease, which it must renew. Others stand still while nobody serves them. */
  leased: boolean;
  presence: Presence;
  /** No new work while set. */
  drain: Drain | null;
  /** Agents that spoke for the node before, newest first: they may not come back. */
  superseded: readonly string[];
  joinedAtMs: number;
  /** What secrets are sealed to for it, base64; null where it can open none. */
  publicKey: string | null;
  /** Names of the secrets that stay on it. */
  secrets: readonly string[];
  /** What is taken, by task key text. */
  readonly allocations: Map<string, NodeAllocation>;
}

/** Log time throughout. */
export type Presence =
  | { readonly kind: 'up' }
  /** Silent since its lease ended: no new work, all else goes on. */
  | { readonly kind: 'suspect'; readonly sinceMs: number }
  /** Silent for longer than the grace, or declared so by a person: its work is decided on without it. */
  | { readonly kind: 'lost'; readonly sinceMs: number }
  /** Its agent left in good order. */
  | { readonly kind: 'down'; readonly sinceMs: number };

export interface Drain {
  readonly reason: string;
  readonly by: string;
  /** Log time from which whatever is still there is stopped; null when it may end by itself. */
  readonly deadlineAtMs: number | null;
}

export interface NodeAllocation {
  readonly cpus: number;
  readonly memoryMiB: number;
  readonly devices: readonly string[];
  /** True when the attempt has ended but its processes were not confirmed dead. */
  readonly held: boolean;
  /** Log time at which it was given: from then on its project is charged, until the attempt lets go of it. */
  readonly sinceMs: number;
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
export function lessAllocation(free: FreeCapacity, given: Omit<NodeAllocation, 'held' | 'sinceMs'>): FreeCapacity {
  const { devices } = given;
  return {
    cpus: exactCores(free.cpus - given.cpus),
    memoryMiB: free.memoryMiB - given.memoryMiB,
    gpus: devices.length === 0 ? free.gpus : free.gpus.filter((gpu) => !devices.includes(gpu.uuid)),
  };
}

/** Shares of cores add up as decimals do: ten tenths are one core. */
export function exactCores(cpus: number): number {
  return Math.round(cpus * 1e6) / 1e6;
}
