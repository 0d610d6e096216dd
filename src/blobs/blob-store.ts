import type { FileStat } from '../host/files.ts';

/** Bytes by content. A blob's name is the lower-case hex SHA-256 of its bytes, and is verified whenever bytes arrive. */
export type BlobHash = string;

export interface StoredFile {
  readonly hash: BlobHash;
  readonly sizeBytes: number;
  /** False when the store had these bytes already. */
  readonly isNew: boolean;
  /** The file itself, before its first byte was read and after the last. */
  readonly before: FileStat;
  readonly after: FileStat;
}

export interface BlobStore {
  /** Which of these are not stored, in the order asked. What is stored counts as new for garbage collection from now on. */
  missing(hashes: readonly BlobHash[]): Promise<readonly BlobHash[]>;
  /** Stores bytes under their hash; storing again is free. Throws `HASH_MISMATCH` when `expected` is given and differs. */
  put(bytes: Uint8Array, expected?: BlobHash): Promise<BlobHash>;
  /** Stores many small blobs at once, packed into few files. */
  putMany(blobs: readonly { readonly hash: BlobHash; readonly bytes: Uint8Array }[]): Promise<void>;
  /**
   * Stores a file's content without holding it in memory; shares its blocks where the file system can.
   * No part of the path may be a link (HostError `ELOOP`); a file that changes meanwhile is stored as it was read.
   * `onSent` is told of bytes as they go over a network, and takes some back where they are sent again.
   */
  putFile(path: string, options?: { readonly onSent?: (bytes: number) => void }): Promise<StoredFile>;
  /** Null when it is not stored. */
  get(hash: BlobHash): Promise<Uint8Array | null>;
  /** Many small ones at once, read pack by pack; verified. */
  getMany(hashes: readonly BlobHash[]): Promise<ReadonlyMap<BlobHash, Uint8Array>>;
  /** Writes a blob to a path, verified, without holding it in memory; false when it is not stored. */
  extract(hash: BlobHash, path: string, options: { mode: number }): Promise<boolean>;
  /** Removes what is not in `keep` and older than `graceMs` (so that a push under way survives). */
  collectGarbage(options: {
    keep: ReadonlySet<BlobHash>;
    graceMs: number;
  }): Promise<{ removed: readonly BlobHash[]; freedBytes: number }>;
}
