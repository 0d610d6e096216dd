import { sleep } from '../host/clock.ts';
import type { Host } from '../host/host.ts';
import { type RotationLimits, rotateLog } from './log-rotation.ts';
import { livePath, type Stream } from './log-segments.ts';
import { createLogTimes } from './log-times.ts';
import type { QuietLogs, SeenLog } from './quiet-logs.ts';
import type { Label } from './records.ts';

export interface LogKeeperOptions {
  readonly host: Host;
  readonly quietLogs: QuietLogs;
  readonly directory: string;
  readonly label: Label;
  readonly limits: RotationLimits;
  /** Aborted when the command has ended; a last look follows. */
  readonly signal: AbortSignal;
}

/** Logs of 64 MiB stay whole; of longer ones the last 1 GiB of each stream is kept. */
export const usualLimits: RotationLimits = { segmentBytes: 64 * 1024 * 1024, keepBytes: 1024 * 1024 * 1024 };

/** How often a log that grows is looked at, and when one that does not counts as quiet. */
const shortestPauseMs = 200;
const longestPauseMs = 2000;

const streams = ['out', 'err'] as const;

/**
 * Notes when a command's logs grew, and rotates them, until it has ended. Resolves after the last look. Rejects with
 * the HostError of a full disk or the like; the command goes on writing and whoever called may begin again later.
 */
export async function keepLogs(options: LogKeeperOptions): Promise<void> {
  const { host, quietLogs, directory, label, limits, signal } = options;
  const place = { files: host.files, directory, label };
  const noteTimes = createLogTimes({ host, directory, label });
  const seen = (sizes: Readonly<Record<Stream, number>>): readonly SeenLog[] =>
    streams.map((stream) => ({ path: livePath({ ...place, stream }), sizeBytes: sizes[stream] }));
  let mayBeLong = true;
  for (let pauseMs = shortestPauseMs; ; ) {
    const isLast = signal.aborted;
    const { grew, outBytes, errBytes } = await noteTimes();
    if (grew || mayBeLong) {
      if (outBytes > limits.segmentBytes) await rotateLog({ ...place, stream: 'out' }, limits);
      if (errBytes > limits.segmentBytes) await rotateLog({ ...place, stream: 'err' }, limits);
    }
    mayBeLong = false;
    if (isLast) return;
    pauseMs = grew ? shortestPauseMs : Math.min(pauseMs * 2, longestPauseMs);
    if (pauseMs < longestPauseMs) await sleep(host.timers, pauseMs, signal);
    else await quietLogs.untilGrown(seen({ out: outBytes, err: errBytes }), signal);
  }
}
