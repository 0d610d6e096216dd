import type { Allocation } from '../job/facts.ts';
import { type FreeCapacity, lessAllocation, type Node } from '../node/node.ts';
import type { State } from '../state.ts';

/** What is free on every node, less what this pass has given away. */
export class Pool {
  readonly state: State;
  readonly #given = new Map<string, FreeCapacity>();

  constructor(state: State) {
    this.state = state;
  }

  freeOn(node: Node): FreeCapacity {
    return this.#given.get(node.name) ?? this.state.derived.free.of(node);
  }

  give(node: Node, allocation: Allocation): void {
    this.#given.set(node.name, lessAllocation(this.freeOn(node), allocation));
    this.state.derived.free.note(node.name);
  }

  /** The pass is over: what it gave away is a matter of its facts from now on, folded or not. */
  close(): void {
    for (const node of this.#given.keys()) this.state.derived.free.note(node);
  }
}
