import type { FileStat, Files } from '../host/files.ts';
import type { BlobHash } from './blob-store.ts';
import { isBlobHash } from './hex.ts';
import type { StorageHost } from './storage-host.ts';

/**
 * Which content each file of a tree had when it was last read, so that an unchanged tree is pushed without reading it.
 * A cache and no more: whatever is wrong with the file on the disk, it counts as empty.
 */
export interface StatCache {
  /** The hash of the file's content if it is the very version that was read then. */
  find(path: string, stat: FileStat): BlobHash | null;
  record(path: string, stat: FileStat, hash: BlobHash): void;
  /** Writes what was found or recorded since the cache was opened; nothing when that is what it says already. */
  save(): Promise<void>;
}

type Row = readonly [path: string, sizeBytes: number, mtimeMs: number, ctimeMs: number, inode: number, hash: BlobHash];

/** A file changed within this time of being read may change again without a new time stamp. */
const racyMs = 2_000;

/**
 * Opens the cache of the tree at `root`, one file in `folder`. `startedWallMs` is the wall clock before the first file
 * was looked at.
 */
export async function openStatCache(options: {
  folder: string;
  root: string;
  host: StorageHost;
  startedWallMs: number;
}): Promise<StatCache> {
  const { folder, root, startedWallMs } = options;
  const { files, digests } = options.host;
  const cachePath = `${folder}/${digests.sha256(new TextEncoder().encode(root)).slice(0, 32)}.json`;
  const old = new Map((await readRows(files, cachePath, root)).map((row) => [row[0], row]));
  const current: Row[] = [];
  let isChanged = false;
  return {
    find(path, stat) {
      const row = old.get(path);
      if (row === undefined) return null;
      const [, sizeBytes, mtimeMs, ctimeMs, inode, hash] = row;
      const isSame =
        sizeBytes === stat.sizeBytes && mtimeMs === stat.mtimeMs && ctimeMs === stat.ctimeMs && inode === stat.inode;
      if (!isSame) return null;
      current.push(row);
      return hash;
    },
    record(path, stat, hash) {
      if (Math.max(stat.mtimeMs, stat.ctimeMs) > startedWallMs - racyMs) return;
      current.push([path, stat.sizeBytes, stat.mtimeMs, stat.ctimeMs, stat.inode, hash]);
      isChanged = true;
    },
    async save() {
      if (!isChanged && current.length === old.size) return;
      const text = JSON.stringify({ version: 1, root, rows: current });
      await files.makeDirectory(folder, { mode: 0o700 });
      await files.writeAtomic(cachePath, new TextEncoder().encode(text), { mode: 0o600 });
    },
  };
}

async function readRows(files: Files, cachePath: string, root: string): Promise<readonly Row[]> {
  const bytes = await files.read(cachePath);
  if (bytes === null) return [];
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (typeof value !== 'object' || value === null) return [];
    if (!('version' in value && value.version === 1 && 'root' in value && value.root === root)) return [];
    return 'rows' in value && Array.isArray(value.rows) ? value.rows.filter(isRow) : [];
  } catch {
    return [];
  }
}

function isRow(value: unknown): value is Row {
  if (!Array.isArray(value) || value.length !== 6) return false;
  const [path, ...rest] = value as readonly unknown[];
  const hash = rest.pop();
  return (
    typeof path === 'string' &&
    rest.every((number) => typeof number === 'number') &&
    typeof hash === 'string' &&
    isBlobHash(hash)
  );
}
