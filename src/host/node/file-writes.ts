import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  copyFile as copyFileCallback,
  fchmodSync,
  fdatasync,
  fstatSync,
  fsync,
  ftruncateSync,
  openSync,
  renameSync,
  rmSync,
  write as writeCallback,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { type FileStat, HostError, type NewFile } from '../files.ts';
import { openRegular } from './file-reads.ts';
import { toFileStat } from './file-stat.ts';
import { codeOf, toHostError } from './system-error.ts';

const fsyncAsync = promisify(fsync);
const fdatasyncAsync = promisify(fdatasync);
const writeAsync = promisify(writeCallback);
const copyFileAsync = promisify(copyFileCallback);
const synchronousBytes = 256 * 1024;

/** Creates or replaces a file. */
export async function writeWhole(
  path: string,
  bytes: Uint8Array,
  { mode, inPlace = false }: { mode?: number; inPlace?: boolean },
): Promise<void> {
  if (!inPlace) return withNewFile(path, 'w', mode, (fd) => writeFully(fd, bytes));
  await withNewFile(path, constants.O_WRONLY | constants.O_CREAT, mode, async (fd) => {
    await writeFully(fd, bytes);
    if (fstatSync(fd).size > bytes.length) ftruncateSync(fd, bytes.length);
  });
}

/** Writes beside the path, then renames over it. */
export async function writeAtomically(
  path: string,
  bytes: Uint8Array,
  options: { mode?: number; sync?: boolean },
): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await withNewFile(temporary, 'wx', options.mode, async (fd) => {
      await writeFully(fd, bytes);
      if (options.sync) await fsyncAsync(fd);
    });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw toHostError(error, path);
  }
  if (options.sync) await syncDirectory(dirname(path));
}

/** False when the path exists already. */
export async function createOnce(path: string, bytes: Uint8Array): Promise<boolean> {
  try {
    await withNewFile(path, 'wx', undefined, (fd) => writeFully(fd, bytes));
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw toHostError(error, path);
  }
}

/** One write at the end of the file; a short one, as on a full disk, is an error. */
export async function appendOnce(path: string, bytes: Uint8Array, sync: boolean): Promise<void> {
  const isNew = await withNewFile(path, 'a', undefined, async (fd) => {
    const written =
      bytes.length <= synchronousBytes ? writeSync(fd, bytes) : (await writeAsync(fd, bytes)).bytesWritten;
    if (written !== bytes.length) {
      throw new HostError('ENOSPC', `wrote ${written} of ${bytes.length} bytes to ${path}`, path);
    }
    if (!sync) return false;
    await fdatasyncAsync(fd);
    return fstatSync(fd).size === bytes.length;
  });
  // The name of a file that was just made must be on the disk too.
  if (isNew) await syncDirectory(dirname(path));
}

/** Renames, and with `sync` waits until the new name is on the disk. */
export async function renameOver(from: string, to: string, sync: boolean): Promise<void> {
  try {
    renameSync(from, to);
  } catch (error) {
    throw toHostError(error, from);
  }
  if (sync) await syncDirectory(dirname(to));
}

/** Creates one file with exactly this mode. Its parent exists and it does not. */
export function writeNew(file: NewFile): FileStat {
  try {
    const fd = openSync(file.path, 'wx', file.mode & 0o700);
    try {
      for (let offset = 0; offset < file.bytes.length; ) offset += writeSync(fd, file.bytes, offset);
      fchmodSync(fd, file.mode);
      return toFileStat(fstatSync(fd));
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    throw toHostError(error, file.path);
  }
}

/** Copies what was opened, not what the path names by then, and never through a link. */
export async function copyRegular(
  from: string,
  to: string,
  options: { mode?: number; sync?: boolean },
): Promise<{ before: FileStat; after: FileStat }> {
  const opened = openRegular(from);
  if (opened === null) throw new HostError('ENOENT', `nothing to copy at ${from}`, from);
  if (opened.kind === 'refused') {
    const code = opened.what === 'link' ? 'ELOOP' : 'EINVAL';
    throw new HostError(code, `expected a regular file at ${from}, found a ${opened.what}`, from);
  }
  const { fd } = opened;
  try {
    const before = toFileStat(fstatSync(fd));
    const source = process.platform === 'linux' ? `/proc/self/fd/${fd}` : from;
    await copyFileAsync(source, to, constants.COPYFILE_FICLONE);
    if (options.mode !== undefined) chmodSync(to, options.mode);
    if (options.sync) await syncFile(to);
    return { before, after: toFileStat(fstatSync(fd)) };
  } catch (error) {
    throw toHostError(error, from);
  } finally {
    closeSync(fd);
  }
}

async function withNewFile<T>(
  path: string,
  flags: string | number,
  mode: number | undefined,
  use: (fd: number) => Promise<T>,
): Promise<T> {
  try {
    const fd = openSync(path, flags, mode ?? 0o666);
    try {
      if (mode !== undefined) fchmodSync(fd, mode);
      return await use(fd);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    throw toHostError(error, path);
  }
}

async function writeFully(fd: number, bytes: Uint8Array): Promise<void> {
  for (let offset = 0; offset < bytes.length; ) {
    const left = bytes.length - offset;
    offset +=
      left <= synchronousBytes
        ? writeSync(fd, bytes, offset, left)
        : (await writeAsync(fd, bytes, offset, left)).bytesWritten;
  }
}

async function syncFile(path: string): Promise<void> {
  const fd = openSync(path, 'r');
  try {
    await fsyncAsync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Makes the names in a directory survive power loss. */
export async function syncDirectory(directory: string): Promise<void> {
  try {
    await syncFile(directory);
  } catch (error) {
    // Some file systems cannot sync a directory and say so with EINVAL; their renames are ordered anyway.
    if (codeOf(error) !== 'EINVAL') throw toHostError(error, directory);
  }
}
