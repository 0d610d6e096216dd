import type { Chance } from '../../host/chance.ts';
import { type Clock, sleep, type Timers } from '../../host/clock.ts';

/** A server that answered before is being restarted, or the network is down for a while. */
const knownMs = 5 * 60_000;
/** One that never answered is most likely not there at all. */
const unknownMs = 2000;
const noteAfterMs = 2000;
const firstPauseMs = 200;
const longestPauseMs = 5000;

/** How long a client goes on asking a server that does not answer. */
export interface Patience {
  /** The server answered: from now on its absence is taken for a passing one. */
  answered(): void;
  /** Begins with a first failure; `endless` is for what is followed, which only its signal ends. */
  begin(options: { readonly endless: boolean; readonly signal?: AbortSignal | undefined }): Outage;
  /** Nothing is waited for any more: whoever waits gives up. */
  close(): void;
}

export interface Outage {
  /** Waits before the next try; false when it is time to give up. */
  wait(error: Error, leastMs?: number): Promise<boolean>;
}

export function createPatience(
  { clock, timers, chance }: { readonly clock: Clock; readonly timers: Timers; readonly chance: Chance },
  onNote: (message: string) => void,
): Patience {
  let isKnown = false;
  let noted = false;
  let closed = false;
  const waiting = new Set<AbortController>();
  const pause = async (pauseMs: number, signal: AbortSignal | undefined): Promise<void> => {
    const wake = new AbortController();
    const onAbort = (): void => wake.abort();
    waiting.add(wake);
    signal?.addEventListener('abort', onAbort, { once: true });
    await sleep(timers, pauseMs, wake.signal);
    signal?.removeEventListener('abort', onAbort);
    waiting.delete(wake);
  };
  return {
    answered() {
      if (noted) onNote('the server answers again');
      noted = false;
      isKnown = true;
    },
    begin({ endless, signal }) {
      const startMs = clock.bootMs();
      let tries = 0;
      return {
        async wait(error, leastMs = 0) {
          const elapsedMs = clock.bootMs() - startMs;
          const mostMs = endless ? Number.POSITIVE_INFINITY : isKnown ? knownMs : unknownMs;
          if (elapsedMs >= mostMs || elapsedMs + leastMs > mostMs || closed || isAborted(signal)) return false;
          if (elapsedMs >= noteAfterMs && !noted) {
            noted = true;
            onNote(`${error.message}; trying again`);
          }
          const pauseMs = Math.min(firstPauseMs * 2 ** tries, longestPauseMs, mostMs - elapsedMs);
          tries += 1;
          // Half of it by chance: many clients of a server that comes back must not all ask at once.
          await pause(Math.max(leastMs, pauseMs * (0.5 + chance.fraction() / 2)), signal);
          return !closed && !isAborted(signal);
        },
      };
    },
    close() {
      closed = true;
      for (const wake of waiting) wake.abort();
    },
  };
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}
