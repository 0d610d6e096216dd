import { type LogPlace, listSegments, livePath } from './log-segments.ts';

export interface LogPart {
  readonly bytes: Uint8Array;
  /** Where to go on. Equal to the end of the log when `bytes` is empty; ask again later to follow. */
  readonly nextOffset: number;
  /** How many bytes before `bytes` were asked for and are gone: rotation dropped them. */
  readonly droppedBytes: number;
}

const nothing = new Uint8Array();

/**
 * Reads a part of a log from an offset, wherever it stands now. Bytes may be fewer than asked for, and none only at
 * the end of the log. Safe beside rotation: bytes of the live file count only if no segment has taken their place by
 * the time they are read, since a hole is punched strictly after its segment appears.
 */
export async function readLog(place: LogPlace, offset: number, maxBytes: number): Promise<LogPart> {
  for (;;) {
    const segments = await listSegments(place);
    const first = segments[0]?.startBytes ?? 0;
    const rotatedBytes = segments.at(-1)?.endBytes ?? 0;
    const start = Math.max(offset, first);
    const droppedBytes = start - offset;
    if (start < rotatedBytes) {
      const segment = segments.find((one) => start < one.endBytes);
      if (segment === undefined) continue;
      if (start < segment.startBytes) {
        // Between two segments: a copy of a log that lost this part on its way.
        const rest = await readLog(place, segment.startBytes, maxBytes);
        return { ...rest, droppedBytes: rest.nextOffset - rest.bytes.length - offset };
      }
      const length = Math.min(maxBytes, segment.endBytes - start);
      const bytes = await place.files.readAt(segment.path, start - segment.startBytes, length);
      // Dropped between the two calls: the next look finds an older end.
      if (bytes === null) continue;
      return { bytes, nextOffset: start + bytes.length, droppedBytes };
    }
    const bytes = (await place.files.readAt(livePath(place), start, maxBytes)) ?? nothing;
    const rotatedSince = (await listSegments(place)).at(-1)?.endBytes ?? 0;
    if (rotatedSince > start) continue;
    return { bytes, nextOffset: start + bytes.length, droppedBytes };
  }
}
