import type { JoinNode } from '../../core/command.ts';
import type { TaskKey } from '../../core/job/job.ts';
import type { Capacity } from '../../core/node/node.ts';
import { nodeName } from '../file/read-nodes.ts';
import type { NodeGroup } from '../plan.ts';

/** A machine that needs no heartbeat: it is there, or it is silent. */
export interface VirtualNode {
  readonly name: string;
  /** Position of its group in the plan. */
  readonly group: number;
  /** Times it was started. */
  boots: number;
  /** When it fell silent; null while it works. */
  silentSinceMs: number | null;
  /** It takes no new work and leaves once it is empty. */
  leaving: boolean;
}

/** The nodes that have joined, by name. */
export class Cluster {
  readonly groups: readonly NodeGroup[];
  readonly nodes = new Map<string, VirtualNode>();
  readonly leaving = new Set<VirtualNode>();
  readonly #capacities: readonly Omit<Capacity, 'gpus'>[];

  constructor(groups: readonly NodeGroup[]) {
    this.groups = groups;
    this.#capacities = groups.map(({ cpus, memoryMiB, labels }) => ({ cpus, memoryMiB, labels }));
  }

  groupOf(node: VirtualNode): NodeGroup {
    const group = this.groups[node.group];
    if (group === undefined) throw new Error(`node ${node.name} belongs to no group`);
    return group;
  }

  isSilent(name: string): boolean {
    return this.nodes.get(name)?.silentSinceMs !== null;
  }

  /** The nodes of a group come up for the first time. */
  start(position: number): readonly VirtualNode[] {
    const group = this.groups[position];
    if (group === undefined) return [];
    return Array.from({ length: group.count }, (_, index) => {
      const name = nodeName(group, index + 1);
      const node = { name, group: position, boots: 0, silentSinceMs: null, leaving: false };
      this.nodes.set(name, node);
      return node;
    });
  }

  /** What the agent of a node says when its machine has started. `inventory`: what it finds begun by its last life. */
  join(node: VirtualNode, inventory: readonly TaskKey[]): JoinNode {
    node.boots += 1;
    node.silentSinceMs = null;
    return {
      kind: 'JoinNode',
      node: node.name,
      instance: instanceOf(node),
      bootId: instanceOf(node),
      capacity: this.#capacityOf(node),
      advertise: 'simulated',
      platform: 'simulated',
      version: 'simulated',
      inventory,
      leased: true,
      wallMs: null,
    };
  }

  #capacityOf(node: VirtualNode): Capacity {
    const { gpus, gpuType, gpuMemoryMiB } = this.groupOf(node);
    const capacity = this.#capacities[node.group];
    if (capacity === undefined) throw new Error(`node ${node.name} belongs to no group`);
    const list = Array.from({ length: gpus }, (_, index) => {
      return { uuid: `${node.name}/${index}`, index, name: gpuType, memoryMiB: gpuMemoryMiB };
    });
    return { ...capacity, gpus: list };
  }
}

/** One agent process, and one boot: a node that comes back is a new one of both. */
export function instanceOf({ name, boots }: VirtualNode): string {
  return `${name}.${boots}`;
}
