import { drainDueMs } from '../core/node/drain.ts';
import { nextServiceDueMs } from '../core/service/follow.ts';
import type { State } from '../core/state.ts';
import { sleep } from '../host/clock.ts';
import type { Host } from '../host/host.ts';
import type { ControlPlane } from './control-plane.ts';

const longestPauseMs = 1000;
const shortestPauseMs = 20;

/**
 * Turns elapsed time into facts (G10): looks at least once a second whether something became due, and only then asks.
 * As long as nothing will, it looks again only once the state has changed. Any process may do it; a tick that finds
 * nothing due appends nothing.
 */
export async function fireTimers(plane: ControlPlane, host: Host, signal: AbortSignal): Promise<void> {
  let seenMs = 0;
  let wake = (): void => {};
  const lookAgain = (): void => wake();
  const ends = [
    plane.subscribe((batch) => {
      // Decided on a machine whose clock is behind: what was due here was not due there.
      seenMs = Math.min(seenMs, batch.nowMs);
      wake();
    }),
    plane.onReload(lookAgain),
  ];
  signal.addEventListener('abort', lookAgain, { once: true });
  try {
    while (!signal.aborted) {
      const nowMs = plane.nowMs();
      const dueMs = nextDueMs(plane.state, seenMs);
      if (dueMs !== null && dueMs <= nowMs) {
        seenMs = nowMs;
        await plane.execute({ kind: 'Tick' });
        continue;
      }
      const changed = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const restMs = dueMs === null ? longestPauseMs : dueMs - nowMs;
      await sleep(host.timers, Math.max(shortestPauseMs, Math.min(longestPauseMs, restMs)), signal);
      if (dueMs === null && !signal.aborted) await changed;
    }
  } finally {
    for (const end of ends) end();
    signal.removeEventListener('abort', lookAgain);
  }
}

/** Log time of the next thing that happens by itself after `seenMs`; null when nothing will. */
export function nextDueMs(state: State, seenMs: number): number | null {
  const due: number[] = [];
  for (const jobs of state.derived.pending.shapes()) {
    for (const job of jobs) {
      for (const index of job.requeued) {
        const element = job.elements.get(index);
        if (element?.kind === 'pending' && element.notBeforeMs > seenMs) due.push(element.notBeforeMs);
      }
    }
  }
  for (const node of state.nodes.values()) {
    const dueMs = drainDueMs(state, node);
    if (dueMs !== null && dueMs > seenMs) due.push(dueMs);
  }
  for (const service of state.services.values()) {
    const dueMs = nextServiceDueMs(service, seenMs);
    if (dueMs !== null) due.push(dueMs);
  }
  return due.length === 0 ? null : due.reduce((a, b) => Math.min(a, b));
}
