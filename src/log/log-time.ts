import type { Clock } from '../host/clock.ts';

/** A point at which log time was written down, with the clocks as they stood. */
export interface TimeAnchor {
  /** Log time, milliseconds. */
  readonly nowMs: number;
  /** Wall clock, Unix milliseconds. */
  readonly atMs: number;
  readonly bootId: string;
  readonly bootMs: number;
}

/** Above this much log time without anything written, nobody was there to notice: the outage rule applies. */
export const outageMs = 60_000;

/**
 * Log time now. Within a boot it advances by boot time alone, so a wall clock set two years ahead (or back) moves no
 * timer; after a reboot only the wall clock can tell how long the machine was off, and it never takes log time back.
 * A log without an anchor starts at wall time.
 */
export function advanceLogTime(last: TimeAnchor | null, clock: Clock): TimeAnchor {
  const atMs = Math.floor(clock.wallMs());
  const bootId = clock.bootId();
  const bootMs = Math.floor(clock.bootMs());
  if (last === null) return { nowMs: atMs, atMs, bootId, bootMs };
  const isSameBoot = last.bootId === bootId;
  const passedMs = isSameBoot ? bootMs - last.bootMs : atMs - last.atMs;
  // Two processes read boot time a few milliseconds apart; going back to the smaller reading would count those twice.
  const anchorBootMs = isSameBoot ? Math.max(last.bootMs, bootMs) : bootMs;
  return { nowMs: last.nowMs + Math.max(0, passedMs), atMs, bootId, bootMs: anchorBootMs };
}

/** True when more log time passed than an attended log ever lets pass. */
export function isOutage(last: TimeAnchor, now: TimeAnchor): boolean {
  return now.nowMs - last.nowMs > outageMs;
}
