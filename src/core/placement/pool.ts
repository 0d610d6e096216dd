import type { Allocation } from '../job/facts.ts';
import { type FreeCapacity, freeCapacity, lessAllocation, type Node } from '../node/node.ts';
import type { Needs, Spread } from '../profile/settings.ts';
import type { ClosedSecret } from '../secrets/openers.ts';
import type { State } from '../state.ts';
import { fitOnNode, isAllocation } from './fit.ts';

/** What is free on every node, less what this pass has given away. */
export class Pool {
  readonly nodes: readonly Node[];
  /** Names of the nodes of which something was given away, in order: rankings catch up with it. */
  readonly changes: string[] = [];
  readonly #known: Map<string, FreeCapacity>;
  readonly #free = new Map<string, FreeCapacity>();

  constructor(state: State) {
    this.#known = state.derived.free;
    this.nodes = [...state.nodes.values()];
  }

  freeOn(node: Node): FreeCapacity {
    const changed = this.#free.get(node.name) ?? this.#known.get(node.name);
    if (changed !== undefined) return changed;
    const free = freeCapacity(node);
    this.#known.set(node.name, free);
    return free;
  }

  give(node: Node, allocation: Allocation): void {
    this.#free.set(node.name, lessAllocation(this.freeOn(node), allocation));
    this.changes.push(node.name);
  }
}

/** How many replicas of the same service each node has, and what that means for another one (X21). */
export interface Company {
  readonly spread: Spread;
  readonly replicas: Map<string, number>;
}

interface Ranked {
  readonly node: Node;
  readonly allocation: Allocation;
  readonly score: number;
}

/**
 * The nodes that fit one shape, best first. It is built once a pass and then follows what the pass gives away: a
 * placement costs by the nodes that changed, not by all of them.
 */
export class Ranking {
  readonly #pool: Pool;
  readonly #needs: Needs;
  readonly #company: Company;
  readonly #closed: ClosedSecret;
  readonly #ranked: Ranked[] = [];
  readonly #byName = new Map<string, Ranked>();
  #seen: number;

  constructor(pool: Pool, needs: Needs, company: Company, closed: ClosedSecret) {
    this.#pool = pool;
    this.#company = company;
    this.#closed = closed;
    this.#needs = needs;
    this.#seen = pool.changes.length;
    for (const node of pool.nodes) {
      const ranked = this.#rank(node);
      if (ranked === null) continue;
      this.#ranked.push(ranked);
      this.#byName.set(node.name, ranked);
    }
    this.#ranked.sort(compare);
  }

  /** Allocations on that many distinct nodes, given away; null when they do not fit together, or are not granted. */
  take(nodes: number, isGranted: (allocations: readonly Allocation[]) => boolean): readonly Allocation[] | null {
    this.#catchUp();
    if (this.#ranked.length < nodes) return null;
    const taken = this.#ranked.slice(0, nodes);
    const allocations = taken.map(({ allocation }) => allocation);
    if (!isGranted(allocations)) return null;
    for (const { node, allocation } of taken) {
      this.#company.replicas.set(node.name, (this.#company.replicas.get(node.name) ?? 0) + 1);
      this.#pool.give(node, allocation);
    }
    return allocations;
  }

  #catchUp(): void {
    const { changes } = this.#pool;
    for (; this.#seen < changes.length; this.#seen += 1) this.#update(changes[this.#seen] ?? '');
  }

  #update(name: string): void {
    const before = this.#byName.get(name);
    if (before === undefined) return;
    this.#ranked.splice(this.#positionOf(before), 1);
    this.#byName.delete(name);
    const after = this.#rank(before.node);
    if (after === null) return;
    this.#ranked.splice(this.#positionOf(after), 0, after);
    this.#byName.set(name, after);
  }

  #rank(node: Node): Ranked | null {
    const { spread, replicas } = this.#company;
    const beside = spread === 'none' ? 0 : (replicas.get(node.name) ?? 0);
    if (spread === 'strict' && beside > 0) return null;
    const free = this.#pool.freeOn(node);
    const allocation = fitOnNode(node, this.#needs, free, this.#closed);
    return isAllocation(allocation) ? { node, allocation, score: score(node, free) + beside * crowding } : null;
  }

  /** Where it stands, or would stand; the order is total. */
  #positionOf(wanted: Ranked): number {
    let from = 0;
    let to = this.#ranked.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      const at = this.#ranked[middle];
      if (at !== undefined && compare(at, wanted) < 0) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}

/** Sharing a node with another replica outweighs every other wish (`spread: prefer`). */
const crowding = 1e9;

function compare(a: Ranked, b: Ranked): number {
  if (a.score !== b.score) return a.score - b.score;
  return a.node.name === b.node.name ? 0 : a.node.name < b.node.name ? -1 : 1;
}

/** Fullest node first, GPUs counting most, so that whole nodes stay free for work that needs them. */
function score(node: Node, free: FreeCapacity): number {
  return free.gpus.length * 1000 + (free.cpus / Math.max(1, node.capacity.cpus)) * 100;
}
