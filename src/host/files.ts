/** What kind of thing a path names. `other` is a socket, device or pipe; `what` says which. */
export type FileKind = 'file' | 'directory' | 'link' | 'fifo' | 'socket' | 'device';

export interface FileStat {
  readonly kind: FileKind;
  readonly sizeBytes: number;
  /** Permission bits only, such as 0o755. */
  readonly mode: number;
  /** Nanoseconds would not fit a double exactly; milliseconds with a fraction identify a version together with inode and change time. */
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly inode: number;
  readonly links: number;
}

export interface DirectoryEntry {
  readonly name: string;
  readonly kind: FileKind;
}

/**
 * One regular file as it was read: the stat is of the very file that was opened.
 * `refused`: what stood there was no regular file, or a part of the path was a link (then `what` is `link`).
 * `changed`: it was written to or replaced while it was read; read it again.
 */
export type FileRead =
  | { readonly kind: 'read'; readonly stat: FileStat; readonly bytes: Uint8Array }
  | { readonly kind: 'large'; readonly stat: FileStat }
  | { readonly kind: 'refused'; readonly what: FileKind }
  | { readonly kind: 'changed' }
  | { readonly kind: 'absent' };

export interface NewFile {
  readonly path: string;
  readonly bytes: Uint8Array;
  /** Permission bits, set whatever the umask. */
  readonly mode: number;
}

/** A failed call to the outside, with the system's own code (`ENOSPC`, `EACCES`, …) kept. */
export class HostError extends Error {
  readonly code: string;
  readonly path: string | null;
  constructor(code: string, message: string, path: string | null, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'HostError';
    this.code = code;
    this.path = path;
  }
}

/**
 * The file system. Absent paths are values (`null`, `false`), everything else that fails throws a HostError.
 * Paths are absolute.
 */
export interface Files {
  read(path: string): Promise<Uint8Array | null>;
  /** At most `lengthBytes` from `offsetBytes`; shorter at the end of the file; null when the file is absent. */
  readAt(path: string, offsetBytes: number, lengthBytes: number): Promise<Uint8Array | null>;
  /**
   * Creates or replaces; not atomic. `inPlace` writes over the old content instead of emptying the file first, which
   * costs some file systems (ext4) a trip to the disk; for content that is always of one length.
   */
  write(path: string, bytes: Uint8Array, options?: { mode?: number; inPlace?: boolean }): Promise<void>;
  /** Writes beside, then renames over: a reader sees the old bytes or the new, never a part. `sync` makes it survive power loss. */
  writeAtomic(path: string, bytes: Uint8Array, options?: { mode?: number; sync?: boolean }): Promise<void>;
  /** Creates with O_EXCL; false when the path exists already. */
  createExclusive(path: string, bytes: Uint8Array): Promise<boolean>;
  /** One write with O_APPEND; with `sync`, returns only when it is on the disk. */
  append(path: string, bytes: Uint8Array, options?: { sync?: boolean }): Promise<void>;
  /** Follows links. */
  stat(path: string): Promise<FileStat | null>;
  lstat(path: string): Promise<FileStat | null>;
  /** Entries in byte order of their names; null when the directory is absent. */
  list(directory: string): Promise<readonly DirectoryEntry[] | null>;
  /** Also makes the parents; an existing directory is fine. `sync` makes its own name survive power loss. */
  makeDirectory(path: string, options?: { mode?: number; sync?: boolean }): Promise<void>;
  /** Replaces a file at `to`. `sync` makes the new name survive power loss. */
  /** Makes one directory whose parent exists; false when the path is taken already. */
  createDirectory(path: string, options: { mode: number }): Promise<boolean>;
  /** Removes an empty directory; false when it is not empty, or absent. */
  removeEmptyDirectory(path: string): Promise<boolean>;
  rename(from: string, to: string, options?: { sync?: boolean }): Promise<void>;
  /** Recursive; an absent path is fine. */
  remove(path: string): Promise<void>;
  symlink(target: string, path: string): Promise<void>;
  readLink(path: string): Promise<string | null>;
  /** The path with every link resolved; null when absent. */
  realPath(path: string): Promise<string | null>;
  chmod(path: string, mode: number): Promise<void>;
  setTimes(path: string, mtimeMs: number): Promise<void>;
  /**
   * Copies one regular file's content, sharing blocks where the file system can. No part of `from` may be a link
   * (HostError `ELOOP`) and it must be a regular file (`EINVAL`). `sync` returns only when the copy is on the disk.
   * Returns the stat of the very file that was read, before and after the copy.
   */
  copyFile(
    from: string,
    to: string,
    options?: { mode?: number; sync?: boolean },
  ): Promise<{ before: FileStat; after: FileStat }>;
  /** `lstat` of many paths in the order asked. Like the other bulk calls it lets timers run every few milliseconds. */
  lstatMany(paths: readonly string[]): Promise<readonly (FileStat | null)[]>;
  /** Reads regular files whole, in the order asked; those above `maxBytes` come back as `large`. No part of a path may be a link. */
  readMany(paths: readonly string[], options: { maxBytes: number }): Promise<readonly FileRead[]>;
  /** Creates files with O_EXCL and returns their stats in the order given. The directories exist. */
  writeMany(files: readonly NewFile[]): Promise<readonly FileStat[]>;
  /** Gives the blocks of [offset, offset+length) back while offsets stay; false where the system cannot. */
  punchHole(path: string, offsetBytes: number, lengthBytes: number): Promise<boolean>;
  /** Makes a file that takes up this much room, without writing it where the system can; false where it cannot. */
  reserve(path: string, sizeBytes: number): Promise<boolean>;
  freeBytes(path: string): Promise<number>;
  /** Calls back after something changed at the path or directly below it; may call too often, never too rarely by more than 100 ms. Returns a function that ends it. */
  watch(path: string, listener: () => void): () => void;
}
