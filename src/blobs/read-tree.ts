import type { FileRead, FileStat } from '../host/files.ts';
import { HostError } from '../host/files.ts';
import type { BlobHash, BlobStore } from './blob-store.ts';
import type { StorageHost } from './storage-host.ts';
import { packedBlobBytes } from './store-parts.ts';
import { TreeRefusal } from './tree-refusal.ts';
import type { Found } from './walk.ts';

/** A file that is in the store now. */
export interface StoredEntry {
  readonly path: string;
  readonly mode: number;
  readonly sizeBytes: number;
  readonly hash: BlobHash;
  /** The version that was read; null when the file changed meanwhile, so that the next push reads it again. */
  readonly stat: FileStat | null;
}

export interface StoreProgress {
  /** One file is in the store, whether or not its bytes had to go there. */
  onStored(entry: StoredEntry): void;
  onSent(sent: { blobs: number; bytes: number }): void;
  /** So many bytes of files that are on their way have arrived; negative when they are told by `onStored` instead. */
  onPart?(bytes: number): void;
  /** Throws to stop between two batches. */
  checkpoint(): void;
}

const batchFiles = 256;
/** Small files wait in memory up to this much, and then share one pack. */
const flushBytes = 16 * 1024 * 1024;
const largeAtOnce = 4;
const tries = 3;

/** Reads files of a tree into the store, never through a link. Files that vanished meanwhile are left out. */
export async function storeFiles(
  options: { root: string; store: BlobStore; host: StorageHost },
  found: readonly Found[],
  progress: StoreProgress,
): Promise<void> {
  const { root, store, host } = options;
  const small = found.filter(({ stat }) => stat.sizeBytes <= packedBlobBytes);
  const large = found.filter(({ stat }) => stat.sizeBytes > packedBlobBytes);
  let waiting: (Waiting & { bytes: Uint8Array })[] = [];
  let waitingBytes = 0;
  const flush = async (): Promise<void> => {
    await storeWaiting(store, waiting, progress);
    waiting = [];
    waitingBytes = 0;
  };
  for (let at = 0; at < small.length; at += batchFiles) {
    progress.checkpoint();
    const batch = small.slice(at, at + batchFiles);
    for (const { path, read } of await readSteadily(root, batch, host)) {
      if (read.kind === 'absent') continue;
      if (read.kind !== 'read') {
        large.push({ path, stat: read.stat });
        continue;
      }
      const { bytes, stat } = read;
      waiting.push({ path, stat, bytes, hash: host.digests.sha256(bytes) });
      waitingBytes += bytes.length;
    }
    if (waitingBytes >= flushBytes) await flush();
  }
  await flush();
  await storeLarge(options, large, progress);
}

interface Waiting {
  readonly path: string;
  readonly stat: FileStat;
  readonly hash: BlobHash;
}

type SteadyRead = Extract<FileRead, { kind: 'read' | 'large' | 'absent' }>;

/** Reads files until they hold still; one that never does comes back as large, to be copied first and hashed then. */
async function readSteadily(
  root: string,
  batch: readonly Found[],
  host: StorageHost,
): Promise<readonly { path: string; read: SteadyRead }[]> {
  const done: { path: string; read: SteadyRead }[] = [];
  let todo = batch;
  for (let attempt = 0; todo.length > 0; attempt++) {
    const reads = await host.files.readMany(
      todo.map(({ path }) => `${root}/${path}`),
      { maxBytes: packedBlobBytes },
    );
    const again: Found[] = [];
    for (const [i, file] of todo.entries()) {
      const read = reads[i] ?? { kind: 'absent' };
      if (read.kind === 'refused') throw swapped(file.path, read.what);
      if (read.kind !== 'changed') done.push({ path: file.path, read });
      else if (attempt + 1 < tries) again.push(file);
      else done.push({ path: file.path, read: { kind: 'large', stat: file.stat } });
    }
    todo = again;
  }
  return done;
}

async function storeWaiting(
  store: BlobStore,
  waiting: readonly (Waiting & { bytes: Uint8Array })[],
  progress: StoreProgress,
): Promise<void> {
  const byHash = new Map(waiting.map(({ hash, bytes }) => [hash, bytes]));
  const missing = await store.missing([...byHash.keys()]);
  const blobs = missing.map((hash) => ({ hash, bytes: byHash.get(hash) ?? new Uint8Array() }));
  if (blobs.length > 0) {
    await store.putMany(blobs);
    progress.onSent({ blobs: blobs.length, bytes: blobs.reduce((sum, { bytes }) => sum + bytes.length, 0) });
  }
  for (const { path, stat, hash } of waiting) {
    progress.onStored({ path, mode: stat.mode, sizeBytes: stat.sizeBytes, hash, stat });
  }
}

/** A few at a time, so that the flushes of one overlap the reads of another. */
async function storeLarge(
  { root, store }: { root: string; store: BlobStore },
  found: readonly Found[],
  progress: StoreProgress,
): Promise<void> {
  const todo = [...found].reverse();
  const work = async (): Promise<void> => {
    for (let file = todo.pop(); file !== undefined; file = todo.pop()) {
      progress.checkpoint();
      let partBytes = 0;
      const stored = await storeOneLarge(store, { root, path: file.path }, (bytes) => {
        partBytes += bytes;
        progress.onPart?.(bytes);
      });
      progress.onPart?.(-partBytes);
      if (stored === null) continue;
      const { hash, sizeBytes, isNew, before, after } = stored;
      if (isNew) progress.onSent({ blobs: 1, bytes: sizeBytes });
      const isSteady =
        before.mtimeMs === after.mtimeMs && before.ctimeMs === after.ctimeMs && before.sizeBytes === sizeBytes;
      progress.onStored({ path: file.path, mode: after.mode, sizeBytes, hash, stat: isSteady ? after : null });
    }
  };
  const results = await Promise.allSettled(Array.from({ length: largeAtOnce }, work));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

async function storeOneLarge(
  store: BlobStore,
  { root, path }: { readonly root: string; readonly path: string },
  onSent: (bytes: number) => void,
) {
  try {
    return await store.putFile(`${root}/${path}`, { onSent });
  } catch (error) {
    if (error instanceof HostError && error.path === `${root}/${path}`) {
      if (error.code === 'ENOENT') return null;
      if (error.code === 'ELOOP') throw swapped(path, 'link');
      if (error.code === 'EINVAL') throw swapped(path, 'special file');
    }
    throw error;
  }
}

function swapped(path: string, what: string): TreeRefusal {
  return new TreeRefusal('CHANGED_DURING_PUSH', {
    path,
    message: `${path} was a file and then became a ${what}, or lies behind one, while it was read`,
    hint: 'leave the folder alone while it is read, and try again',
  });
}
