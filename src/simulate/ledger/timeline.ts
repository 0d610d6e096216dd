const mostBins = 512;
const firstBinMs = 1000;

/** One figure over time, as the mean of each bin. */
export interface Series {
  readonly binMs: number;
  readonly values: readonly number[];
}

/**
 * Figures over time, each the mean of a bin. However long it gets there are at most 512 bins: two become one when they
 * would be more.
 */
export class Timeline {
  readonly #now: number[] = [];
  #bins: number[][] = [];
  #binMs = firstBinMs;
  #nowMs = 0;

  get nowMs(): number {
    return this.#nowMs;
  }

  /** A new figure, 0 until it is changed; its number. */
  channel(): number {
    this.#now.push(0);
    return this.#now.length - 1;
  }

  value(channel: number): number {
    return this.#now[channel] ?? 0;
  }

  change(channel: number, by: number): void {
    this.#now[channel] = (this.#now[channel] ?? 0) + by;
  }

  pass(toMs: number): void {
    while (toMs > this.#binMs * mostBins) this.#halve();
    while (this.#nowMs < toMs) {
      const bin = Math.floor(this.#nowMs / this.#binMs);
      const untilMs = Math.min(toMs, (bin + 1) * this.#binMs);
      const sums = this.#bins[bin] ?? [];
      this.#bins[bin] = sums;
      const lastsMs = untilMs - this.#nowMs;
      for (let channel = 0; channel < this.#now.length; channel += 1) {
        const value = this.#now[channel] ?? 0;
        if (value !== 0) sums[channel] = (sums[channel] ?? 0) + value * lastsMs;
      }
      this.#nowMs = untilMs;
    }
  }

  series(channel: number): Series {
    const values = this.#bins.map((sums, bin) => {
      const lastsMs = Math.min(this.#binMs, this.#nowMs - bin * this.#binMs);
      return lastsMs <= 0 ? 0 : Math.round((1000 * (sums[channel] ?? 0)) / lastsMs) / 1000;
    });
    return { binMs: this.#binMs, values };
  }

  #halve(): void {
    const bins: number[][] = [];
    for (let bin = 0; bin < this.#bins.length; bin += 2) {
      const [a = [], b = []] = [this.#bins[bin], this.#bins[bin + 1]];
      const longer = a.length >= b.length ? a : b;
      bins.push(longer.map((_, channel) => (a[channel] ?? 0) + (b[channel] ?? 0)));
    }
    this.#bins = bins;
    this.#binMs *= 2;
  }
}
