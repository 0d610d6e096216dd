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
    this.#rise(entry);
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
      const { atMs, work } = first;
      if (work !== null) return { atMs, work };
    }
  }

  #removeFirst(): void {
    const last = this.#heap.pop();
    if (last !== undefined && this.#heap.length > 0) this.#sink(last);
  }

  /** Moves those above down until the one at the end stands where it belongs. */
  #rise(entry: Entry): void {
    const heap = this.#heap;
    let at = heap.length - 1;
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = heap[parentAt];
      if (parent === undefined || !isBefore(entry, parent)) break;
      heap[at] = parent;
      at = parentAt;
    }
    heap[at] = entry;
  }

  /** Moves those below the first up until the entry has its place. */
  #sink(entry: Entry): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      let childAt = 2 * at + 1;
      let child = heap[childAt];
      const right = heap[childAt + 1];
      if (child !== undefined && right !== undefined && isBefore(right, child)) {
        childAt += 1;
        child = right;
      }
      if (child === undefined || !isBefore(child, entry)) break;
      heap[at] = child;
      at = childAt;
    }
    heap[at] = entry;
  }
}

function isBefore(one: Entry, other: Entry): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order);
}
