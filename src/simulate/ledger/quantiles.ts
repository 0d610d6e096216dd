/** Ratio of a bucket's ends: a quantile is off by at most one percent. */
const growth = 1.02;
const step = Math.log(growth);

/** Quantiles of many values in memory that does not grow with them: buckets on a logarithmic scale. */
export class Quantiles {
  readonly #buckets = new Map<number, number>();
  #count = 0;
  #sum = 0;
  #max = 0;

  get count(): number {
    return this.#count;
  }

  get sum(): number {
    return this.#sum;
  }

  get max(): number {
    return this.#max;
  }

  /** `weight`: how often, or for how long, the value was so. */
  add(value: number, weight = 1): void {
    const bucket = value < 1 ? -1 : Math.floor(Math.log(value) / step);
    this.#buckets.set(bucket, (this.#buckets.get(bucket) ?? 0) + weight);
    this.#count += weight;
    this.#sum += value * weight;
    this.#max = Math.max(this.#max, value);
  }

  /** The smallest value with at least this share at or below it; 0 where there are none. */
  at(share: number): number {
    const buckets = [...this.#buckets].sort(([a], [b]) => a - b);
    let seen = 0;
    for (const [bucket, weight] of buckets) {
      seen += weight;
      if (seen < share * this.#count) continue;
      return bucket < 0 ? 0 : Math.min(this.#max, growth ** (bucket + 0.5));
    }
    return this.#max;
  }
}
