import type { Dirent, Stats } from 'node:fs';
import type { FileKind, FileStat } from '../files.ts';

export function toFileStat(stats: Stats): FileStat {
  return {
    kind: kindOf(stats),
    sizeBytes: stats.size,
    mode: stats.mode & 0o7777,
    mtimeMs: stats.mtimeMs,
    ctimeMs: stats.ctimeMs,
    inode: stats.ino,
    links: stats.nlink,
  };
}

export function kindOf(entry: Stats | Dirent): FileKind {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  if (entry.isSymbolicLink()) return 'link';
  if (entry.isFIFO()) return 'fifo';
  if (entry.isSocket()) return 'socket';
  return 'device';
}

/** True when both describe the same unchanged version of the same file. */
export function isSameVersion(left: FileStat, right: FileStat): boolean {
  return (
    left.inode === right.inode &&
    left.sizeBytes === right.sizeBytes &&
    left.mtimeMs === right.mtimeMs &&
    left.ctimeMs === right.ctimeMs
  );
}
