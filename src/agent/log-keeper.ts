import { sleep } from '../host/clock.ts';
import type { Host } from '../host/host.ts';
import { type RotationLimits, rotateLog } from './log-rotation.ts';
import { createLogTimes } from './log-times.ts';
import type { Label } from './records.ts';

export interface LogKeeperOptions {
  readonly host: Host;
  readonly directory: string;
  readonly label: Label;
  readonly limits: RotationLimits;
  /** Aborted when the command has ended; a last look follows. */
  readonly signal: AbortSignal;
}

/** Logs of 64 MiB stay whole; of longer ones the last 1 GiB of each stream is kept. */
export const usualLimits: RotationLimits = { segmentBytes: 64 * 1024 * 1024, keepBytes: 1024 * 1024 * 1024 };

/** How often a log that grows is looked at, and the slowest that a quiet one is. */
const shortestPauseMs = 200;
const longestPauseMs = 2000;

/**
 * Notes when a command's logs grew, and rotates them, until it has ended. Resolves after the last look. Rejects with
 * the HostError of a full disk or the like; the command goes on writing and whoever called may begin again later.
 */
export async function keepLogs({ host, directory, label, limits, signal }: LogKeeperOptions): Promise<void> {
  const place = { files: host.files, directory, label };
  const noteTimes = createLogTimes({ host, directory, label });
  let mayBeLong = true;
  for (let pauseMs = shortestPauseMs; ; ) {
    const isLast = signal.aborted;
    const grew = await noteTimes();
    if (grew || mayBeLong) {
      for (const stream of ['out', 'err'] as const) await rotateLog({ ...place, stream }, limits);
    }
    mayBeLong = false;
    if (isLast) return;
    pauseMs = grew ? shortestPauseMs : Math.min(pauseMs * 2, longestPauseMs);
    await sleep(host.timers, pauseMs < longestPauseMs ? pauseMs : untilNextBeatMs(host.clock.bootMs()), signal);
  }
}

/** All quiet logs of a node are looked at together: one wake-up for many replicas that do nothing. */
function untilNextBeatMs(nowMs: number): number {
  return longestPauseMs - (nowMs % longestPauseMs);
}
