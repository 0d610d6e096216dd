import { toHex } from '../host/hex.ts';
import type { BlobHash } from './blob-store.ts';
import { fromHex } from './hex.ts';
import {
  encodePack,
  entryBytes,
  findInIndex,
  type PackIndex,
  readTrailer,
  rebuildIndex,
  trailerBytes,
} from './pack-format.ts';
import type { StorageHost } from './storage-host.ts';

export interface Pack {
  readonly path: string;
  readonly index: PackIndex;
}

export interface PackedBlob {
  readonly pack: Pack;
  readonly offset: number;
  readonly length: number;
}

/** The packs of one store as this process knows them. Others add and remove packs at any time; `refresh` looks again. */
export interface PackSet {
  refresh(): Promise<void>;
  all(): readonly Pack[];
  /** Every place where the blob lies, according to the last refresh. */
  find(hash: BlobHash): readonly PackedBlob[];
  /** Writes one pack, flushed to the disk before its name appears. */
  add(blobs: readonly { readonly hash: BlobHash; readonly bytes: Uint8Array }[]): Promise<void>;
}

export function openPackSet(directory: string, host: StorageHost): PackSet {
  const { files, digests, chance } = host;
  let packs: ReadonlyMap<string, Pack> = new Map();

  return {
    async refresh() {
      const found = new Map<string, Pack>();
      for (const { name } of (await files.list(directory)) ?? []) {
        if (!name.endsWith('.pack')) continue;
        const path = `${directory}/${name}`;
        const index = packs.get(name)?.index ?? (await readIndex(path, host));
        if (index !== null) found.set(name, { path, index });
      }
      packs = found;
    },
    all: () => [...packs.values()],
    find(hash) {
      const key = fromHex(hash);
      const places: PackedBlob[] = [];
      for (const pack of packs.values()) {
        const place = findInIndex(pack.index, key);
        if (place !== null) places.push({ pack, ...place });
      }
      return places;
    },
    async add(blobs) {
      const keyed = blobs.map(({ hash, bytes }) => ({ key: fromHex(hash), bytes }));
      const file = encodePack(keyed, (bytes) => fromHex(digests.sha256(bytes)));
      const path = `${directory}/${toHex(chance.bytes(16))}.pack`;
      await files.writeAtomic(path, file, { mode: 0o400, sync: true });
    },
  };
}

/** Null when the pack vanished meanwhile. */
async function readIndex(path: string, { files, digests }: StorageHost): Promise<PackIndex | null> {
  const stat = await files.lstat(path);
  if (stat === null) return null;
  const trailer = await files.readAt(path, Math.max(stat.sizeBytes - trailerBytes, 0), trailerBytes);
  const where = trailer === null ? null : readTrailer(trailer, stat.sizeBytes);
  if (where !== null) {
    const entries = await files.readAt(path, where.indexAt, where.indexBytes);
    if (entries === null) return null;
    const isWhole = digests.sha256(entries) === toHex(where.digest);
    if (isWhole) return { entries, count: entries.length / entryBytes };
  }
  const file = await files.read(path);
  return file === null ? null : rebuildIndex(file);
}
