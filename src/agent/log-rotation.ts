import { type LogPlace, type LogSegment, listSegments, livePath, segmentPath } from './log-segments.ts';

export interface RotationLimits {
  /** A live file that holds more than this is rotated. */
  readonly segmentBytes: number;
  /** The oldest segments above this total are dropped; readers see how many bytes are missing. */
  readonly keepBytes: number;
}

/** `unsupported`: this file system cannot give blocks back, so that the log stays whole and grows. */
export type Rotation = 'not-due' | 'rotated' | 'unsupported';

const copyBytes = 1024 * 1024;

/** Holes begin and end with whole blocks; a part of one would only be zeroed. */
const blockBytes = 4096;

/**
 * Moves what stands in the live file into a segment: copies it, then punches a hole where it was. The command goes on
 * writing at the end meanwhile, with O_APPEND, and no offset changes: nothing is lost, unlike by truncating a copy.
 * A crash in between leaves bytes twice, never none; the next rotation punches again.
 */
export async function rotateLog(place: LogPlace, limits: RotationLimits): Promise<Rotation> {
  const live = await place.files.stat(livePath(place));
  if (live === null || live.sizeBytes <= limits.segmentBytes) return 'not-due';
  const before = await listSegments(place);
  const startBytes = before.at(-1)?.endBytes ?? 0;
  if (live.sizeBytes - startBytes <= limits.segmentBytes) return 'not-due';
  const endBytes = live.sizeBytes - (live.sizeBytes % blockBytes);
  if (endBytes <= startBytes) return 'not-due';

  const segment = await copySegment(place, startBytes, endBytes);
  if (!(await place.files.punchHole(livePath(place), 0, endBytes))) {
    await place.files.remove(segment.path);
    return 'unsupported';
  }
  await dropOldest([...before, segment], place, limits.keepBytes);
  return 'rotated';
}

async function copySegment(place: LogPlace, startBytes: number, endBytes: number): Promise<LogSegment> {
  const { files } = place;
  const path = segmentPath(place, startBytes, endBytes);
  const beside = `${livePath(place)}.rotating`;
  await files.write(beside, new Uint8Array());
  for (let at = startBytes; at < endBytes; ) {
    const bytes = await files.readAt(livePath(place), at, Math.min(copyBytes, endBytes - at));
    if (bytes === null || bytes.length === 0) {
      throw new Error(`${livePath(place)}: expected ${endBytes} bytes, found ${at}: somebody shortened the log`);
    }
    await files.append(beside, bytes, at + bytes.length === endBytes ? { sync: true } : {});
    at += bytes.length;
  }
  await files.rename(beside, path);
  return { path, startBytes, endBytes };
}

/** The newest segment always stays: it says up to where the live file is a hole. */
async function dropOldest(segments: readonly LogSegment[], place: LogPlace, keepBytes: number): Promise<void> {
  const endBytes = segments.at(-1)?.endBytes ?? 0;
  for (const segment of segments.slice(0, -1)) {
    if (endBytes - segment.startBytes <= keepBytes) return;
    await place.files.remove(segment.path);
  }
}
