import { execFileSync } from 'node:child_process';
import { openSync, readFileSync, readSync } from 'node:fs';
import type { Clock } from '../clock.ts';

/** The machine's clocks. Node has no call for CLOCK_BOOTTIME, so on Linux /proc/uptime is read and refined. */
export function createNodeClock(): Clock {
  const bootId = readBootId();
  return {
    wallMs: () => Date.now(),
    // On macOS Node's monotonic clock counts from boot and goes on during sleep.
    bootMs: process.platform === 'linux' ? refineUptime(openUptime(), monotonicMs) : monotonicMs,
    bootId: () => bootId,
  };
}

/**
 * Joins a coarse clock that counts suspend (rounded down to 10 ms) with a fine one that does not. Their difference is
 * never overestimated and only rises, so the result never exceeds the truth, never goes back, and jumps ahead by
 * itself after a suspend.
 */
export function refineUptime(coarseMs: () => number, fineMs: () => number): () => number {
  let differenceMs = Number.NEGATIVE_INFINITY;
  return () => {
    const before = fineMs();
    differenceMs = Math.max(differenceMs, coarseMs() - fineMs());
    return Math.max(before, fineMs()) + differenceMs;
  };
}

/** Keeps the file open: reading it again from its start costs a few microseconds. */
function openUptime(): () => number {
  const fd = openSync('/proc/uptime', 'r');
  const buffer = Buffer.alloc(64);
  return () => {
    const length = readSync(fd, buffer, 0, buffer.length, 0);
    const seconds = Number(buffer.toString('latin1', 0, length).split(' ', 1)[0]);
    if (!Number.isFinite(seconds)) throw new Error('/proc/uptime: expected the seconds since boot in its first field');
    return seconds * 1000;
  };
}

function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

function readBootId(): string {
  return process.platform === 'linux'
    ? readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    : execFileSync('/usr/sbin/sysctl', ['-n', 'kern.bootsessionuuid'], { encoding: 'utf8' }).trim();
}
