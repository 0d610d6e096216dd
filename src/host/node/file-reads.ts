import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  read as readCallback,
  readlinkSync,
  readSync,
  realpathSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { FileKind, FileRead } from '../files.ts';
import { isSameVersion, toFileStat } from './file-stat.ts';
import { codeOf, isAbsent, toHostError } from './system-error.ts';

const readAsync = promisify(readCallback);

/** The most that one buffer takes. */
const largestReadBytes = 1024 * 1024 * 1024;

/** Up to this size a synchronous read is over sooner than a trip through the thread pool. */
const synchronousBytes = 256 * 1024;

/** Reads a whole file; null when it is absent. Follows links. */
export async function readWhole(path: string): Promise<Uint8Array | null> {
  return withFile(path, async (fd) => {
    // One byte more than expected shows the end; files of the kernel say 0 and have more.
    const expectedBytes = Math.min(Math.max(fstatSync(fd).size + 1, 4096), largestReadBytes);
    const parts: Uint8Array[] = [];
    for (let offset = 0; ; ) {
      const part = await readRange(fd, offset, expectedBytes);
      parts.push(part);
      offset += part.length;
      if (part.length < expectedBytes) return joined(parts);
    }
  });
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : new Uint8Array(Buffer.concat(parts));
}

/** Reads at most `lengthBytes` from an offset; null when the file is absent. */
export async function readPart(path: string, offsetBytes: number, lengthBytes: number): Promise<Uint8Array | null> {
  return withFile(path, (fd) => readRange(fd, offsetBytes, Math.min(lengthBytes, lengthLeft(fd, offsetBytes))));
}

/** Files of the kernel (/proc, /sys) say that they are empty and are not, so a size of 0 promises nothing. */
function lengthLeft(fd: number, offsetBytes: number): number {
  const stats = fstatSync(fd);
  return stats.isFile() && stats.size > 0 ? Math.max(stats.size - offsetBytes, 0) : Number.MAX_SAFE_INTEGER;
}

async function withFile<T>(path: string, use: (fd: number) => Promise<T>): Promise<T | null> {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch (error) {
    if (isAbsent(error)) return null;
    throw toHostError(error, path);
  }
  try {
    return await use(fd);
  } catch (error) {
    throw toHostError(error, path);
  } finally {
    closeSync(fd);
  }
}

/** Reads until the length is filled or the file ends. */
async function readRange(fd: number, offsetBytes: number, lengthBytes: number): Promise<Uint8Array> {
  const buffer = Buffer.allocUnsafeSlow(Math.min(lengthBytes, largestReadBytes));
  let filled = 0;
  while (filled < buffer.length) {
    const want = buffer.length - filled;
    const at = offsetBytes + filled;
    const got =
      want <= synchronousBytes
        ? readSync(fd, buffer, filled, want, at)
        : (await readAsync(fd, buffer, filled, want, at)).bytesRead;
    if (got === 0) break;
    filled += got;
  }
  return new Uint8Array(buffer.buffer, buffer.byteOffset, filled);
}

/** Opens a regular file without following a link in any part of its path, which must be absolute and clean. */
export function openRegular(path: string): { kind: 'open'; fd: number } | { kind: 'refused'; what: FileKind } | null {
  let fd: number;
  try {
    // Without O_NONBLOCK the open of a pipe would wait for its writer for ever.
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (isAbsent(error)) return null;
    if (codeOf(error) === 'ELOOP') return { kind: 'refused', what: 'link' };
    if (codeOf(error) === 'ENXIO') return { kind: 'refused', what: 'socket' };
    throw toHostError(error, path);
  }
  try {
    const { kind } = toFileStat(fstatSync(fd));
    const what = kind === 'file' ? (passedLink(fd, path) ? 'link' : null) : kind;
    if (what === null) return { kind: 'open', fd };
    closeSync(fd);
    return { kind: 'refused', what };
  } catch (error) {
    closeSync(fd);
    throw toHostError(error, path);
  }
}

/** True when the opened file lies elsewhere than its path says: some folder on the way was a link. */
function passedLink(fd: number, path: string): boolean {
  if (process.platform !== 'linux') {
    const folder = dirname(path);
    return realpathSync.native(folder) !== folder;
  }
  const actual = readlinkSync(`/proc/self/fd/${fd}`);
  // A file that was replaced or renamed meanwhile is told apart by its folder, which stays.
  return dirname(actual) !== dirname(path);
}

/** Reads one regular file of at most `maxBytes`, and tells when it changed meanwhile. */
export function readRegular(path: string, maxBytes: number): FileRead {
  const opened = openRegular(path);
  if (opened === null) return { kind: 'absent' };
  if (opened.kind === 'refused') return opened;
  const { fd } = opened;
  try {
    const stat = toFileStat(fstatSync(fd));
    if (stat.sizeBytes > maxBytes) return { kind: 'large', stat };
    const buffer = Buffer.allocUnsafeSlow(stat.sizeBytes);
    let filled = 0;
    while (filled < buffer.length) {
      const got = readSync(fd, buffer, filled, buffer.length - filled, filled);
      if (got === 0) return { kind: 'changed' };
      filled += got;
    }
    if (!isSameVersion(stat, toFileStat(fstatSync(fd)))) return { kind: 'changed' };
    return { kind: 'read', stat, bytes: new Uint8Array(buffer.buffer, buffer.byteOffset, filled) };
  } catch (error) {
    throw toHostError(error, path);
  } finally {
    closeSync(fd);
  }
}
