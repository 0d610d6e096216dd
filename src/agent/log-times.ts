import type { Files } from '../host/files.ts';
import type { Host } from '../host/host.ts';
import { livePath, type Stream } from './log-segments.ts';
import type { Label } from './records.ts';

/** At the time `atMs` (wall clock) the streams had these sizes. Logs themselves are the command's bytes and carry no times. */
export interface LogTime {
  readonly atMs: number;
  readonly outBytes: number;
  readonly errBytes: number;
}

export interface LogTimesPlace {
  readonly files: Files;
  readonly directory: string;
  readonly label: Label;
}

const streams = ['out', 'err'] as const;

/** What a look at a command's logs found. */
export interface LogGrowth {
  readonly grew: boolean;
  readonly outBytes: number;
  readonly errBytes: number;
}

/** Returns a function that notes the present sizes if they changed. */
export function createLogTimes(options: { host: Host; directory: string; label: Label }): () => Promise<LogGrowth> {
  const { host, directory, label } = options;
  const place = { files: host.files, directory, label };
  let last: LogTime | null = null;
  return async () => {
    last ??= (await readLogTimes(place)).at(-1) ?? { atMs: 0, outBytes: 0, errBytes: 0 };
    const [outBytes = 0, errBytes = 0] = await logSizesBytes(place);
    const grew = outBytes !== last.outBytes || errBytes !== last.errBytes;
    if (!grew) return { grew, outBytes, errBytes };
    // The wall clock may jump back; the index must stay sorted to be searched.
    last = { atMs: Math.max(host.clock.wallMs(), last.atMs), outBytes, errBytes };
    const line = `${last.atMs} ${outBytes} ${errBytes}\n`;
    await host.files.append(timesPath(place), new TextEncoder().encode(line));
    return { grew, outBytes, errBytes };
  };
}

/** Both with one call, as this is asked of every command that runs, again and again; 0 for one that is not there. */
async function logSizesBytes(place: LogTimesPlace): Promise<readonly number[]> {
  const stats = await place.files.lstatMany(streams.map((stream) => livePath({ ...place, stream })));
  return stats.map((stat) => stat?.sizeBytes ?? 0);
}

/** All notes, the oldest first; a torn last line is left out. */
export async function readLogTimes(place: LogTimesPlace): Promise<readonly LogTime[]> {
  const bytes = await place.files.read(timesPath(place));
  if (bytes === null) return [];
  const lines = new TextDecoder().decode(bytes).split('\n').slice(0, -1);
  return lines.flatMap((line) => {
    const [atMs = Number.NaN, outBytes = Number.NaN, errBytes = Number.NaN] = line.split(' ').map(Number);
    return Number.isNaN(atMs + outBytes + errBytes) ? [] : [{ atMs, outBytes, errBytes }];
  });
}

/** A stretch of one stream, written at about `atMs`; null for what no note covers (yet). */
export interface LogStretch {
  readonly stream: Stream;
  readonly startBytes: number;
  readonly endBytes: number;
  readonly atMs: number | null;
}

/** Puts the two streams from their starts to their ends in the order in which they were written, as far as the notes tell. */
export function interleave(
  times: readonly LogTime[],
  start: { readonly outBytes: number; readonly errBytes: number },
  end: { readonly outBytes: number; readonly errBytes: number },
): readonly LogStretch[] {
  const stretches: LogStretch[] = [];
  let { outBytes, errBytes } = start;
  const advance = (to: { outBytes: number; errBytes: number }, atMs: number | null): void => {
    const [outEnd, errEnd] = [Math.min(to.outBytes, end.outBytes), Math.min(to.errBytes, end.errBytes)];
    if (outEnd > outBytes) stretches.push({ stream: 'out', startBytes: outBytes, endBytes: outEnd, atMs });
    if (errEnd > errBytes) stretches.push({ stream: 'err', startBytes: errBytes, endBytes: errEnd, atMs });
    [outBytes, errBytes] = [Math.max(outBytes, outEnd), Math.max(errBytes, errEnd)];
  };
  for (const time of times) advance(time, time.atMs);
  advance(end, null);
  return stretches;
}

/** Where the streams stood at a time: what was written later begins there. */
export function offsetsAt(times: readonly LogTime[], atMs: number): { outBytes: number; errBytes: number } {
  const last = times.findLast((time) => time.atMs < atMs);
  return { outBytes: last?.outBytes ?? 0, errBytes: last?.errBytes ?? 0 };
}

function timesPath({ directory, label }: LogTimesPlace): string {
  return `${directory}/${label}.times`;
}
