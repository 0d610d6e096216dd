import type { Clock } from '../host/clock.ts';

/** Slows those down who try tokens out [R4.23]: by address, and by the id of the token. */
export interface GuessLimits {
  /** Seconds until another try is looked at; null when it is looked at now. */
  blockedForSeconds(keys: readonly string[]): number | null;
  failed(keys: readonly string[]): void;
  /** Remembers a token by its digest: whoever holds one that was good lately is not slowed down by a neighbour's guesses. */
  wasGood(digest: string): void;
  isKnownGood(digest: string): boolean;
}

/** Most keys that are remembered, so that whoever draws addresses or ids cannot fill the memory. */
const mostKeys = 10_000;

/** So long a token that was good is looked at whatever else comes from its address; it may have been revoked since. */
const goodMs = 3_600_000;

interface Failures {
  count: number;
  readonly sinceMs: number;
}

export function createGuessLimits(clock: Clock, limits: { guesses: number; guessWindowMs: number }): GuessLimits {
  const { guesses, guessWindowMs } = limits;
  const known = new Map<string, Failures>();
  const good = new Map<string, number>();
  const find = (key: string): Failures | null => {
    const found = known.get(key);
    if (found === undefined) return null;
    if (clock.bootMs() - found.sinceMs < guessWindowMs) return found;
    known.delete(key);
    return null;
  };
  return {
    blockedForSeconds(keys) {
      const full = keys.flatMap((key) => find(key) ?? []).filter(({ count }) => count >= guesses);
      if (full.length === 0) return null;
      const lastMs = Math.max(...full.map(({ sinceMs }) => sinceMs + guessWindowMs));
      return Math.max(1, Math.ceil((lastMs - clock.bootMs()) / 1000));
    },
    failed(keys) {
      for (const key of keys) {
        const found = find(key);
        if (found !== null) {
          found.count += 1;
          continue;
        }
        putBounded(known, key, { count: 1, sinceMs: clock.bootMs() });
      }
    },
    wasGood(digest) {
      good.delete(digest);
      putBounded(good, digest, clock.bootMs());
    },
    isKnownGood(digest) {
      const sinceMs = good.get(digest);
      return sinceMs !== undefined && clock.bootMs() - sinceMs < goodMs;
    },
  };
}

/** Maps keep the order of insertion: the oldest goes. */
function putBounded<Value>(map: Map<string, Value>, key: string, value: Value): void {
  for (const oldest of map.keys()) {
    if (map.size < mostKeys) break;
    map.delete(oldest);
  }
  map.set(key, value);
}
