/** Where time comes from. Wall time is for people, boot time for every length of time. */
export interface Clock {
  /** Wall clock, Unix milliseconds. It may jump; show it, never subtract it. */
  wallMs(): number;
  /** CLOCK_BOOTTIME in milliseconds: never backwards within a boot, and it goes on during suspend. */
  bootMs(): number;
  /** The kernel's id of this boot; another value means that no process from before is alive. */
  bootId(): string;
}

export interface Timers {
  /** Calls `callback` once, `delayMs` from now at the earliest. Returns a function that cancels it. */
  after(delayMs: number, callback: () => void): () => void;
}

/** Resolves after `delayMs`, or at once when `signal` aborts. */
export function sleep(timers: Timers, delayMs: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const finish = (): void => {
      cancel();
      signal?.removeEventListener('abort', finish);
      resolve();
    };
    const cancel = timers.after(delayMs, finish);
    signal?.addEventListener('abort', finish, { once: true });
  });
}
