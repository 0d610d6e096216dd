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

  /**
   * Whole milliseconds within the spread. With u uniform, min + (max − min)·u^p has a mean of exactly the one asked for
   * when p is 1/share − 1: many short ones and few long ones where the mean is near the minimum.
   */
  spreadMs({ minMs, meanMs, maxMs }: Spread, what: string): number {
    if (maxMs <= minMs) return minMs;
    const share = (meanMs - minMs) / (maxMs - minMs);
    if (share <= 0) return minMs;
    if (share >= 1) return maxMs;
    return Math.round(minMs + (maxMs - minMs) * this.fraction(what) ** (1 / share - 1));
  }

  /** Time until the next of events that come without memory, at least a millisecond. */
  waitMs(meanMs: number, what: string): number {
    return Math.max(1, Math.round(-Math.log(1 - this.fraction(what)) * meanMs));
  }

  exitCode({ share, code }: Exit, what: string): number {
    return share > 0 && this.fraction(what) < share ? code : 0;
  }
}
