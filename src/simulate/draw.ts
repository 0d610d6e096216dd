import { fractionOf } from '../core/supervision/restart.ts';
import type { Exit, Spread } from './plan.ts';

/**
 * Every draw comes from the seed and the name of what it is for, and from nothing else: what happens to one job shifts
 * no draw of another, and two clusters can be compared under the very same work.
 */
export class Draws {
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** Uniform in [0, 1). */
  fraction(what: string): number {
    // Two hashes together: one alone has too few bits for the far ends of a long tail.
    return (fractionOf(`${this.#seed}.${what}`) + fractionOf(`${what}/${this.#seed}`) / 2 ** 20) % 1;
  }

  /** Whole milliseconds within the spread, with its mean. */
  spreadMs(spread: Spread, what: string): number {
    const { minMs, maxMs } = spread;
    if (maxMs <= minMs) return minMs;
    return Math.round(minMs + (maxMs - minMs) * quantile(steepnessOf(spread), this.fraction(what)));
  }

  /** Time until the next of events that come without memory, at least a millisecond. */
  waitMs(meanMs: number, what: string): number {
    return Math.max(1, Math.round(-Math.log(1 - this.fraction(what)) * meanMs));
  }

  exitCode({ share, code }: Exit, what: string): number {
    return share > 0 && this.fraction(what) < share ? code : 0;
  }
}

const known = new WeakMap<Spread, number>();

/**
 * Of all spreads between two ends with a given mean, the one that assumes least: exponential, cut off at both ends. Its
 * steepness has no formula; halving finds it to the last digit, once for each spread.
 */
function steepnessOf(spread: Spread): number {
  const before = known.get(spread);
  if (before !== undefined) return before;
  const wanted = (spread.meanMs - spread.minMs) / (spread.maxMs - spread.minMs);
  let [low, high] = [-700, 700];
  for (let round = 0; round < 60; round += 1) {
    const middle = (low + high) / 2;
    if (meanOf(middle) > wanted) low = middle;
    else high = middle;
  }
  known.set(spread, high);
  return high;
}

/** Mean, from 0 to 1, of the density e^(−steepness·x). */
function meanOf(steepness: number): number {
  return Math.abs(steepness) < 1e-6 ? 0.5 : 1 / steepness - 1 / Math.expm1(steepness);
}

function quantile(steepness: number, fraction: number): number {
  if (Math.abs(steepness) < 1e-6) return fraction;
  return Math.min(1, Math.max(0, -Math.log1p(fraction * Math.expm1(-steepness)) / steepness));
}
