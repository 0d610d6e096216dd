import type { Chance } from '../host/chance.ts';
import { type Clock, sleep, type Timers } from '../host/clock.ts';
import { HostError } from '../host/files.ts';
import { isBusy } from './sqlite-connection.ts';

/** A lock held this long is not contention: its holder has been stopped in the middle of a commit. */
const patienceMs = 30_000;
/** Longest pause between two tries. */
export const longestPauseMs = 2;

export interface BusyHost {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly chance: Chance;
}

/**
 * Tries until the lock is free, between tries leaving this process to its other work. The pauses are short, jittered and
 * do not grow, so that whoever has waited long has the same chance as whoever has just come.
 */
export async function retryWhileBusy<T>(host: BusyHost, attempt: () => T): Promise<T> {
  let startedMs: number | null = null;
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error)) throw error;
      startedMs ??= host.clock.bootMs();
      if (host.clock.bootMs() - startedMs > patienceMs) throw heldTooLong(error);
    }
    await sleep(host.timers, host.chance.fraction() * longestPauseMs);
  }
}

function heldTooLong(error: unknown): HostError {
  const path = error instanceof HostError ? error.path : null;
  return new HostError(
    'EBUSY',
    `${path}: another process has held the lock for ${patienceMs / 1000} s. Look for a stopped process (state T) and continue or end it`,
    path,
    error,
  );
}
