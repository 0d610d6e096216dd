import { compareByBytes } from '../host/byte-order.ts';
import { type DirectoryEntry, type FileRead, type FileStat, type Files, HostError } from '../host/files.ts';
import type { Disk } from './disk.ts';
import type { DiskFile } from './disk-node.ts';
import type { Incarnation } from './incarnation.ts';

export interface FilesOptions {
  readonly incarnation: Incarnation;
  /** Which disk holds a path: a home may be shared by machines. */
  readonly diskOf: (path: string) => Disk;
  /** How long the next call takes, in milliseconds; one that waits for the disk takes longer. */
  readonly latencyMs: (kind: 'call' | 'sync') => number;
  /** How long the next notice of a change takes, in milliseconds. */
  readonly noticeMs: () => number;
}

/** The files of one incarnation: each call takes its time and then has its effect as a whole. */
export function createVirtualFiles(options: FilesOptions): Files {
  const { incarnation, diskOf, latencyMs } = options;
  const call = <T>(path: string, effect: (disk: Disk) => T, kind: 'call' | 'sync' = 'call'): Promise<T> =>
    incarnation.call(latencyMs(kind), () => effect(diskOf(path)));
  const kindOf = (sync: boolean | undefined): 'call' | 'sync' => (sync === true ? 'sync' : 'call');
  return {
    read: (path) => call(path, (disk) => disk.read(path)),
    readAt: (path, offset, length) =>
      call(path, (disk) => disk.read(path)?.slice(offset, offset + Math.min(length, 2 ** 31)) ?? null),
    write: (path, bytes, given = {}) => call(path, (disk) => write(disk, path, bytes, given.mode)),
    writeAtomic: (path, bytes, given = {}) =>
      call(path, (disk) => writeAtomic(disk, path, bytes, given), kindOf(given.sync)),
    createExclusive: (path, bytes) => call(path, (disk) => createExclusive(disk, path, bytes)),
    append: (path, bytes, given = {}) =>
      call(
        path,
        (disk) => {
          disk.append(path, bytes);
          if (given.sync === true) disk.sync(path);
        },
        kindOf(given.sync),
      ),
    stat: (path) => call(path, (disk) => disk.stat(path)),
    lstat: (path) => call(path, (disk) => disk.stat(path, { follow: false })),
    list: (path) => call(path, (disk) => list(disk, path)),
    makeDirectory: (path, given = {}) =>
      call(
        path,
        (disk) => {
          disk.makeFolder(path, given.mode);
          if (given.sync === true) disk.sync(path);
        },
        kindOf(given.sync),
      ),
    rename: (from, to, given = {}) =>
      call(
        from,
        (disk) => {
          disk.rename(from, to);
          if (given.sync === true) disk.sync(to);
        },
        kindOf(given.sync),
      ),
    remove: (path) => call(path, (disk) => disk.remove(path)),
    symlink: (target, path) => call(path, (disk) => disk.makeLink(target, path)),
    readLink: (path) =>
      call(path, (disk) => {
        const node = disk.find(path, { follow: false });
        return node?.kind === 'link' ? node.target : null;
      }),
    realPath: (path) => call(path, (disk) => realPath(disk, path)),
    chmod: (path, mode) => call(path, (disk) => disk.chmod(path, mode)),
    setTimes: (path, mtimeMs) => call(path, (disk) => disk.setTimes(path, mtimeMs)),
    ...folderCalls(call),
    ...bulkCalls(call),
    punchHole: (path) => call(path, () => false),
    reserve: (path, sizeBytes) => call(path, (disk) => disk.reserve(path, sizeBytes)),
    freeBytes: (path) => call(path, (disk) => disk.freeBytes),
    watch: (path, listener) => watch(options, path, listener),
  };
}

type Call = <T>(path: string, effect: (disk: Disk) => T, kind?: 'call' | 'sync') => Promise<T>;

function folderCalls(call: Call): Pick<Files, 'createDirectory' | 'removeEmptyDirectory'> {
  return {
    createDirectory: (path, { mode }) =>
      call(path, (disk) => {
        if (disk.place(path).node !== null) return false;
        disk.makeFolder(path, mode);
        return true;
      }),
    removeEmptyDirectory: (path) =>
      call(path, (disk) => {
        const node = disk.find(path, { follow: false });
        if (node?.kind !== 'directory' || node.children.size > 0) return false;
        disk.remove(path);
        return true;
      }),
  };
}

function bulkCalls(call: Call): Pick<Files, 'copyFile' | 'lstatMany' | 'readMany' | 'writeMany'> {
  const first = (paths: readonly string[]): string => paths[0] ?? '/';
  return {
    copyFile: (from, to, given = {}) =>
      call(
        from,
        (disk) => {
          const source = regular(disk, from);
          const before = existing(disk, from);
          write(disk, to, source.bytes, given.mode);
          if (given.sync === true) disk.sync(to);
          return { before, after: existing(disk, from) };
        },
        given.sync === true ? 'sync' : 'call',
      ),
    lstatMany: (paths) => call(first(paths), (disk) => paths.map((path) => disk.stat(path, { follow: false }))),
    readMany: (paths, { maxBytes }) =>
      call(first(paths), (disk) => paths.map((path): FileRead => readRegular(disk, path, maxBytes))),
    writeMany: (files) =>
      call(first(files.map(({ path }) => path)), (disk) =>
        files.map(({ path, bytes, mode }) => {
          const file = disk.open(path, { mode, exclusive: true });
          if (file === null) throw new HostError('EEXIST', `${path} exists`, path);
          disk.setBytes(path, file, bytes);
          return existing(disk, path);
        }),
      ),
  };
}

function write(disk: Disk, path: string, bytes: Uint8Array, mode: number | undefined): void {
  const file = disk.open(path, mode === undefined ? {} : { mode });
  if (file === null) throw new HostError('EEXIST', `${path} exists`, path);
  disk.setBytes(path, file, bytes.slice());
}

function writeAtomic(disk: Disk, path: string, bytes: Uint8Array, given: { mode?: number; sync?: boolean }): void {
  const beside = `${path}.tmp`;
  try {
    write(disk, beside, bytes, given.mode);
    if (given.sync === true) disk.sync(beside);
    disk.rename(beside, path);
    if (given.sync === true) disk.sync(path);
  } catch (error) {
    disk.remove(beside);
    throw error;
  }
}

/** On a full disk the file is created and stays empty, as on a real one. */
function createExclusive(disk: Disk, path: string, bytes: Uint8Array): boolean {
  const file = disk.open(path, { exclusive: true });
  if (file === null) return false;
  disk.setBytes(path, file, bytes.slice());
  return true;
}

function list(disk: Disk, path: string): readonly DirectoryEntry[] | null {
  const node = disk.find(path);
  if (node?.kind !== 'directory') return null;
  return [...node.children]
    .map(([name, { kind }]) => ({ name, kind }))
    .sort((left, right) => compareByBytes(left.name, right.name));
}

function realPath(disk: Disk, path: string): string | null {
  if (disk.find(path) === null) return null;
  return disk.place(path).path;
}

function regular(disk: Disk, path: string): DiskFile {
  const node = disk.find(path, { follow: false });
  if (node === null) throw new HostError('ENOENT', `nothing to copy at ${path}`, path);
  if (node.kind === 'link' || realPath(disk, path) !== path) throw new HostError('ELOOP', `${path} is a link`, path);
  if (node.kind !== 'file') throw new HostError('EINVAL', `${path} is a ${node.kind}`, path);
  return node;
}

function existing(disk: Disk, path: string): FileStat {
  const stat = disk.stat(path);
  if (stat === null) throw new HostError('ENOENT', `no such file: ${path}`, path);
  return stat;
}

function readRegular(disk: Disk, path: string, maxBytes: number): FileRead {
  const node = disk.find(path, { follow: false });
  if (node === null) return { kind: 'absent' };
  if (node.kind === 'link' || realPath(disk, path) !== path) return { kind: 'refused', what: 'link' };
  if (node.kind !== 'file') return { kind: 'refused', what: node.kind };
  const stat = existing(disk, path);
  return stat.sizeBytes > maxBytes ? { kind: 'large', stat } : { kind: 'read', stat, bytes: node.bytes };
}

/** Changes close to each other make one notice, as they may on a real system. */
function watch({ incarnation, diskOf, noticeMs }: FilesOptions, path: string, listener: () => void): () => void {
  let cancel: (() => void) | null = null;
  let closed = false;
  const end = diskOf(path).watch(path, () => {
    cancel ??= incarnation.after(noticeMs(), () => {
      cancel = null;
      if (!closed) listener();
    });
  });
  return () => {
    closed = true;
    end();
    cancel?.();
  };
}
