import { type FreeCapacity, freeCapacity, type Node } from '../node/node.ts';

/** Changes that are remembered: whoever has seen less looks at all nodes again. */
const mostChanges = 8192;

/** What is free on each node, kept until something of the node changes; and which nodes changed, in order. */
export class FreeCapacities {
  readonly #known = new Map<string, FreeCapacity>();
  #changes: string[] = [];
  #forgotten = 0;

  of(node: Node): FreeCapacity {
    const known = this.#known.get(node.name);
    if (known !== undefined) return known;
    const free = freeCapacity(node);
    this.#known.set(node.name, free);
    return free;
  }

  /** Something of the node changed: what it offers, what of it is taken, or whether it takes work at all. */
  delete(node: string): void {
    this.#known.delete(node);
    this.note(node);
  }

  /** Who ranks nodes looks at this one again, though nothing of it is known to have changed. */
  note(node: string): void {
    if (this.#changes.length >= mostChanges) {
      this.#forgotten += mostChanges / 2;
      this.#changes = this.#changes.slice(mostChanges / 2);
    }
    this.#changes.push(node);
  }

  /** How many changes there ever were: a place in their order. */
  get changed(): number {
    return this.#forgotten + this.#changes.length;
  }

  /** Names of the nodes that changed since that place, each once; null where that is no longer known. */
  changedSince(place: number): ReadonlySet<string> | null {
    return place < this.#forgotten ? null : new Set(this.#changes.slice(place - this.#forgotten));
  }
}
