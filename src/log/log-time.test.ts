import { describe, expect, it } from 'vitest';
import { advanceLogTime, isOutage, type TimeAnchor } from './log-time.ts';

const day = 86_400_000;
const anchor: TimeAnchor = { nowMs: 5_000, atMs: 100 * day, bootId: 'boot-1', bootMs: 1_000 };

function clock(atMs: number, bootMs: number, bootId = 'boot-1') {
  return { wallMs: () => atMs, bootMs: () => bootMs, bootId: () => bootId };
}

describe('log time', () => {
  it('starts at wall time in a new log', () => {
    expect(advanceLogTime(null, clock(100.5, 7.9))).toEqual({ nowMs: 100, atMs: 100, bootId: 'boot-1', bootMs: 7 });
  });

  it('advances by boot time within a boot, whatever the wall clock does [C28]', () => {
    for (const atMs of [anchor.atMs, anchor.atMs + 730 * day, anchor.atMs - 730 * day]) {
      expect(advanceLogTime(anchor, clock(atMs, 1_250)).nowMs).toBe(5_250);
    }
  });

  it('advances by wall time over a reboot, and never goes back [I7]', () => {
    expect(advanceLogTime(anchor, clock(anchor.atMs + 9_000, 3, 'boot-2'))).toMatchObject({ nowMs: 14_000, bootMs: 3 });
    expect(advanceLogTime(anchor, clock(anchor.atMs - 9_000, 3, 'boot-2')).nowMs).toBe(5_000);
  });

  it('does not run fast when processes read boot time a few milliseconds apart', () => {
    let last = anchor;
    for (let step = 1; step <= 100; step += 1) last = advanceLogTime(last, clock(0, 1_000 + step - (step % 2) * 5));
    expect(last.nowMs).toBe(5_100);
  });

  it('calls more than 60 s without a write an outage', () => {
    expect(isOutage(anchor, advanceLogTime(anchor, clock(0, 61_000)))).toBe(false);
    expect(isOutage(anchor, advanceLogTime(anchor, clock(0, 61_001)))).toBe(true);
  });
});
