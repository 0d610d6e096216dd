import type { Files } from '../host/files.ts';
import type { Label } from './records.ts';

export type Stream = 'out' | 'err';

/** One log of an attempt. Offsets count from the first byte that the command ever wrote, whatever became of it. */
export interface LogPlace {
  readonly files: Files;
  /** The attempt's directory. */
  readonly directory: string;
  readonly label: Label;
  readonly stream: Stream;
}

/** A part of a log that rotation moved out of the live file, in a file of its own: `run.out.0-1048576`. */
export interface LogSegment {
  readonly path: string;
  readonly startBytes: number;
  readonly endBytes: number;
}

/** The file that the command itself writes to. */
export function livePath({ directory, label, stream }: LogPlace): string {
  return `${directory}/${label}.${stream}`;
}

export function segmentPath(place: LogPlace, startBytes: number, endBytes: number): string {
  return `${livePath(place)}.${startBytes}-${endBytes}`;
}

/** All segments, the oldest first. Without gaps between them, as only the oldest are ever dropped. */
export async function listSegments(place: LogPlace): Promise<readonly LogSegment[]> {
  const prefix = `${place.label}.${place.stream}.`;
  const entries = (await place.files.list(place.directory)) ?? [];
  return entries
    .flatMap(({ name }) => {
      const range = name.startsWith(prefix) ? /^(\d+)-(\d+)$/.exec(name.slice(prefix.length)) : null;
      if (range === null) return [];
      return [{ path: `${place.directory}/${name}`, startBytes: Number(range[1]), endBytes: Number(range[2]) }];
    })
    .sort((a, b) => a.startBytes - b.startBytes);
}
