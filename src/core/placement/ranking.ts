import type { Allocation } from '../job/facts.ts';
import type { FreeCapacity, Node } from '../node/node.ts';
import type { Needs, Spread } from '../profile/settings.ts';
import type { ClosedSecret } from '../secrets/openers.ts';
import { fitOnNode, isAllocation } from './fit.ts';
import type { Pool } from './pool.ts';

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
 * The nodes that fit one shape, best first. It is built once and then follows what changes: a placement costs by the
 * nodes that changed, not by all of them.
 */
export class Ranking {
  readonly #needs: Needs;
  readonly #company: Company;
  readonly #closed: ClosedSecret;
  #ranked: Ranked[] = [];
  readonly #byName = new Map<string, Ranked>();
  /** The place in the order of changes up to which it knows the nodes; null before it was built. */
  #seen: number | null = null;

  constructor(needs: Needs, company: Company, closed: ClosedSecret) {
    this.#needs = needs;
    this.#company = company;
    this.#closed = closed;
  }

  /** Allocations on that many distinct nodes, given away; null when they do not fit together, or are not granted. */
  take(
    pool: Pool,
    nodes: number,
    isGranted: (allocations: readonly Allocation[]) => boolean,
  ): readonly Allocation[] | null {
    this.#catchUp(pool);
    if (this.#ranked.length < nodes) return null;
    const taken = this.#ranked.slice(0, nodes);
    const allocations = taken.map(({ allocation }) => allocation);
    if (!isGranted(allocations)) return null;
    const { spread, replicas } = this.#company;
    for (const { node, allocation } of taken) {
      if (spread !== 'none') replicas.set(node.name, (replicas.get(node.name) ?? 0) + 1);
      pool.give(node, allocation);
    }
    return allocations;
  }

  #catchUp(pool: Pool): void {
    const { derived, nodes } = pool.state;
    const changed = this.#seen === null ? null : derived.free.changedSince(this.#seen);
    this.#seen = derived.free.changed;
    if (changed === null || changed.size > nodes.size / 2) this.#build(pool);
    else for (const name of changed) this.#update(pool, name);
  }

  #build(pool: Pool): void {
    this.#ranked = [];
    this.#byName.clear();
    for (const node of pool.state.nodes.values()) {
      const ranked = this.#rank(pool, node);
      if (ranked === null) continue;
      this.#ranked.push(ranked);
      this.#byName.set(node.name, ranked);
    }
    this.#ranked.sort(compare);
  }

  #update(pool: Pool, name: string): void {
    const before = this.#byName.get(name);
    if (before !== undefined) {
      this.#ranked.splice(this.#positionOf(before), 1);
      this.#byName.delete(name);
    }
    const node = pool.state.nodes.get(name);
    const after = node === undefined ? null : this.#rank(pool, node);
    if (after === null) return;
    this.#ranked.splice(this.#positionOf(after), 0, after);
    this.#byName.set(name, after);
  }

  #rank(pool: Pool, node: Node): Ranked | null {
    const { spread, replicas } = this.#company;
    const beside = spread === 'none' ? 0 : (replicas.get(node.name) ?? 0);
    if (spread === 'strict' && beside > 0) return null;
    const free = pool.freeOn(node);
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
