interface Entry<What> {
  readonly atMs: number;
  readonly order: number;
  readonly what: What;
}

/** What is to come, earliest first; of two at the same time the one that was added first. */
export class EventHeap<What> {
  readonly #entries: Entry<What>[] = [];
  #added = 0;

  get size(): number {
    return this.#entries.length;
  }

  /** Time of the earliest; null when there is none. */
  get nextMs(): number | null {
    return this.#entries[0]?.atMs ?? null;
  }

  add(atMs: number, what: What): void {
    const entry = { atMs, order: this.#added, what };
    this.#added += 1;
    const entries = this.#entries;
    let position = entries.length;
    entries.push(entry);
    while (position > 0) {
      const above = (position - 1) >>> 1;
      const parent = entries[above];
      if (parent === undefined || !isBefore(entry, parent)) break;
      entries[position] = parent;
      position = above;
    }
    entries[position] = entry;
  }

  /** Takes the earliest away; undefined when there is none. */
  take(): What | undefined {
    const [first] = this.#entries;
    const last = this.#entries.pop();
    if (first === undefined || last === undefined) return undefined;
    if (this.#entries.length > 0) this.#sink(last);
    return first.what;
  }

  #sink(entry: Entry<What>): void {
    const entries = this.#entries;
    let position = 0;
    for (;;) {
      const left = position * 2 + 1;
      const [a, b] = [entries[left], entries[left + 1]];
      if (a === undefined) break;
      const [child, below] = b !== undefined && isBefore(b, a) ? [b, left + 1] : [a, left];
      if (!isBefore(child, entry)) break;
      entries[position] = child;
      position = below;
    }
    entries[position] = entry;
  }
}

function isBefore<What>(a: Entry<What>, b: Entry<What>): boolean {
  return a.atMs === b.atMs ? a.order < b.order : a.atMs < b.atMs;
}
