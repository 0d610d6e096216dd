import type { Timers } from '../clock.ts';

/** Node fires a longer delay at once. */
const longestMs = 2 ** 31 - 1;

export function createNodeTimers(): Timers {
  return {
    after(delayMs, callback) {
      let handle: NodeJS.Timeout;
      const arm = (leftMs: number): void => {
        const stepMs = Math.min(Math.max(leftMs, 0), longestMs);
        handle = setTimeout(() => (leftMs > stepMs ? arm(leftMs - stepMs) : callback()), Math.ceil(stepMs));
      };
      arm(delayMs);
      return () => clearTimeout(handle);
    },
  };
}
