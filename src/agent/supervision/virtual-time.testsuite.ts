import type { Clock, Timers } from '../../host/clock.ts';

/** Time that passes only when told to. */
export interface VirtualTime {
  readonly clock: Clock;
  readonly timers: Timers;
  /** Lets time pass, firing what is due in its order; what the timers set off gets its turn in between. */
  pass(ms: number): Promise<void>;
  /** Lets time pass all at once, as when the agent or its machine stood still. */
  stall(ms: number): Promise<void>;
}

export function createVirtualTime(): VirtualTime {
  let nowMs = 0;
  const due = new Set<{ readonly atMs: number; readonly callback: () => void }>();
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
  };
  const fireUntil = async (endMs: number): Promise<void> => {
    for (;;) {
      const [next] = [...due].filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs);
      if (next === undefined) return;
      due.delete(next);
      nowMs = Math.max(nowMs, next.atMs);
      next.callback();
      await settle();
    }
  };
  return {
    clock: { wallMs: () => nowMs, bootMs: () => nowMs, bootId: () => 'boot' },
    timers: {
      after: (delayMs, callback) => {
        const timer = { atMs: nowMs + Math.max(0, delayMs), callback };
        due.add(timer);
        return () => {
          due.delete(timer);
        };
      },
    },
    async pass(ms) {
      await settle();
      const endMs = nowMs + ms;
      await fireUntil(endMs);
      nowMs = endMs;
    },
    async stall(ms) {
      await settle();
      nowMs += ms;
      await fireUntil(nowMs);
    },
  };
}
