interface Entry {
  readonly atMs: number;
  readonly order: number;
  /** Null once it was taken back. */
  work: (() => void) | null;
}

/** What is to happen, by virtual time and then in the order in which it was asked for. A binary heap. */
export class EventQueue {
  readonly #heap: Entry[] = [];
  #added = 0;

  /** Returns a function that takes it back. */
  add(atMs: number, work: () => void): () => void {
    const entry: Entry = { atMs, order: this.#added, work };
    this.#added += 1;
    this.#heap.push(entry);
    this.#rise(this.#heap.length - 1);
    return () => {
      entry.work = null;
    };
  }

  /** The next one that is due at `untilMs`, removed; null when there is none. */
  take(untilMs: number): { readonly atMs: number; readonly work: () => void } | null {
    for (;;) {
      const [first] = this.#heap;
      if (first === undefined || first.atMs > untilMs) return null;
      this.#removeFirst();
      if (first.work !== null) return { atMs: first.atMs, work: first.work };
    }
  }

  #removeFirst(): void {
    const last = this.#heap.pop();
    if (last === undefined || this.#heap.length === 0) return;
    this.#heap[0] = last;
    this.#sink();
  }

  #rise(start: number): void {
    let at = start;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#swapUnlessOrdered(parent, at)) return;
      at = parent;
    }
  }

  #sink(): void {
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      if (left >= this.#heap.length) return;
      const least = left + 1 < this.#heap.length && this.#isBefore(left + 1, left) ? left + 1 : left;
      if (!this.#swapUnlessOrdered(at, least)) return;
      at = least;
    }
  }

  #swapUnlessOrdered(parent: number, child: number): boolean {
    const [above, below] = [this.#heap[parent], this.#heap[child]];
    if (above === undefined || below === undefined || !this.#isBefore(child, parent)) return false;
    this.#heap[parent] = below;
    this.#heap[child] = above;
    return true;
  }

  #isBefore(one: number, other: number): boolean {
    const [a, b] = [this.#heap[one], this.#heap[other]];
    if (a === undefined || b === undefined) return false;
    return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
  }
}
