import { sleep } from '../host/clock.ts';
import type { Host } from '../host/host.ts';
import type { State } from '../core/state.ts';
import type { ControlPlane } from './control-plane.ts';

/**
 * Turns elapsed time into facts (G10): looks once a second whether something is overdue, and only then asks.
 * Any process may do it; a tick that finds nothing due appends nothing.
 */
export async function fireTimers(plane: ControlPlane, host: Host, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(host.timers, 1000, signal);
    if (signal.aborted) return;
    const dueMs = nextDueMs(plane.state);
    if (dueMs !== null && dueMs <= plane.nowMs()) await plane.execute({ kind: 'Tick' });
  }
}

/** Log time of the next thing that happens by itself; null when nothing will. */
export function nextDueMs(state: State): number | null {
  let nextMs: number | null = null;
  for (const jobs of state.derived.pending.shapes()) {
    for (const job of jobs) {
      for (const index of job.requeued) {
        const element = job.elements.get(index);
        if (element?.kind !== 'pending') continue;
        if (nextMs === null || element.notBeforeMs < nextMs) nextMs = element.notBeforeMs;
      }
    }
  }
  return nextMs;
}
