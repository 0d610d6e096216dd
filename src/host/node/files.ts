import { execFile } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  promises,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmdirSync,
  type Stats,
  statfsSync,
  statSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { compareByBytes } from '../byte-order.ts';
import type { DirectoryEntry, FileStat, Files } from '../files.ts';
import { readPart, readRegular, readWhole } from './file-reads.ts';
import { kindOf, toFileStat } from './file-stat.ts';
import {
  appendOnce,
  copyRegular,
  createOnce,
  renameOver,
  syncDirectory,
  writeAtomically,
  writeNew,
  writeWhole,
} from './file-writes.ts';
import { mapInSlices } from './slices.ts';
import { codeOf, failing, onPath } from './system-error.ts';
import { watchPath } from './watch.ts';

/** The real file system. Small calls are synchronous inside, large and flushing ones go through the thread pool. */
export function createNodeFiles(): Files {
  return {
    read: readWhole,
    readAt: readPart,
    write: (path, bytes, options) => writeWhole(path, bytes, options ?? {}),
    writeAtomic: (path, bytes, options) => writeAtomically(path, bytes, options ?? {}),
    createExclusive: createOnce,
    append: (path, bytes, options) => appendOnce(path, bytes, options?.sync === true),
    stat: async (path) => onPath<FileStat | null>(path, () => statOrNull(statSync(path, quietly)), null),
    lstat: async (path) => lstatOrNull(path),
    list: async (directory) => listDirectory(directory),
    makeDirectory: (path, options) =>
      failing(path, async () => {
        mkdirSync(path, { recursive: true, ...(options?.mode === undefined ? {} : { mode: options.mode }) });
        if (options?.sync) await syncDirectory(dirname(path));
      }),
    createDirectory: (path, { mode }) => failing(path, () => succeeds(() => mkdirSync(path, { mode }), ['EEXIST'])),
    removeEmptyDirectory: (path) =>
      failing(path, () => succeeds(() => rmdirSync(path), ['ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR'])),
    rename: (from, to, options) => renameOver(from, to, options?.sync === true),
    remove: (path) => failing(path, () => removeAny(path)),
    symlink: (target, path) => failing(path, () => symlinkSync(target, path)),
    readLink: async (path) => onPath<string | null>(path, () => readlinkSync(path), null),
    realPath: async (path) => onPath<string | null>(path, () => realpathSync.native(path), null),
    chmod: (path, mode) => failing(path, () => chmodSync(path, mode)),
    setTimes: (path, mtimeMs) => failing(path, () => lutimesSync(path, mtimeMs / 1000, mtimeMs / 1000)),
    copyFile: (from, to, options) => copyRegular(from, to, options ?? {}),
    lstatMany: (paths) => mapInSlices(paths, lstatOrNull),
    readMany: (paths, { maxBytes }) => mapInSlices(paths, (path) => readRegular(path, maxBytes)),
    writeMany: (files) => mapInSlices(files, writeNew),
    punchHole,
    reserve,
    freeBytes: (path) =>
      failing(path, () => {
        const { bavail, bsize } = statfsSync(path);
        return bavail * bsize;
      }),
    watch: watchPath,
  };
}

/** False for the failures that are answers. */
function succeeds(call: () => void, answers: readonly string[]): boolean {
  try {
    call();
    return true;
  } catch (error) {
    if (answers.includes(codeOf(error) ?? '')) return false;
    throw error;
  }
}

/** A small file goes at once; what may take long (a tree, a big file) goes through the thread pool. */
async function removeAny(path: string): Promise<void> {
  const stats = lstatSync(path, quietly);
  if (stats === undefined) return;
  if (stats.isDirectory() || stats.size > synchronousBytes) await promises.rm(path, { recursive: true, force: true });
  else onPath(path, () => unlinkSync(path), undefined);
}

const synchronousBytes = 256 * 1024;

/** Absence is common, and an exception costs more than the look itself. */
const quietly = { throwIfNoEntry: false } as const;

function statOrNull(stats: Stats | undefined): FileStat | null {
  return stats === undefined ? null : toFileStat(stats);
}

function lstatOrNull(path: string): FileStat | null {
  return onPath<FileStat | null>(path, () => statOrNull(lstatSync(path, quietly)), null);
}

function listDirectory(directory: string): readonly DirectoryEntry[] | null {
  const entries = onPath(directory, () => readdirSync(directory, { withFileTypes: true }), null);
  if (entries === null) return null;
  return entries
    .map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
    .sort((left, right) => compareByBytes(left.name, right.name));
}

function reserve(path: string, sizeBytes: number): Promise<boolean> {
  if (process.platform !== 'linux') return Promise.resolve(false);
  return new Promise((resolve) => {
    execFile('fallocate', ['--length', String(sizeBytes), path], { timeout: 10_000 }, (error) =>
      resolve(error === null),
    );
  });
}

/** Node cannot call fallocate(2), so the system's own program does. */
function punchHole(path: string, offsetBytes: number, lengthBytes: number): Promise<boolean> {
  if (process.platform !== 'linux') return Promise.resolve(false);
  const argv = ['--punch-hole', '--offset', String(offsetBytes), '--length', String(lengthBytes), path];
  return new Promise((resolve) => {
    execFile('fallocate', argv, { timeout: 10_000 }, (error) => resolve(error === null));
  });
}
