import type { BlobHash, BlobStore } from '../../blobs/blob-store.ts';
import { HostError } from '../../host/files.ts';

/**
 * The store of a server behind a local one that remembers what came from it, so that a workspace crosses the network
 * once for all tasks that use it. What is stored goes to the server alone; only the local copies are ever collected.
 */
export function createCachedStore(local: BlobStore, remote: BlobStore): BlobStore {
  return {
    missing: (hashes) => remote.missing(hashes),
    put: (bytes, expected) => remote.put(bytes, expected),
    putMany: (blobs) => remote.putMany(blobs),
    putFile: (path, options) => remote.putFile(path, options),
    async get(hash) {
      const known = await local.get(hash);
      if (known !== null) return known;
      const bytes = await remote.get(hash);
      if (bytes !== null) await remember(local.put(bytes, hash));
      return bytes;
    },
    getMany: (hashes) => getMany(local, remote, hashes),
    async extract(hash, path, options) {
      if (await local.extract(hash, path, options)) return true;
      if (!(await remote.extract(hash, path, options))) return false;
      await remember(local.putFile(path));
      return true;
    },
    collectGarbage: (options) => local.collectGarbage(options),
  };
}

async function getMany(
  local: BlobStore,
  remote: BlobStore,
  hashes: readonly BlobHash[],
): Promise<ReadonlyMap<BlobHash, Uint8Array>> {
  const known = await local.getMany(hashes);
  const wanted = hashes.filter((hash) => !known.has(hash));
  if (wanted.length === 0) return known;
  const fetched = await remote.getMany(wanted);
  await remember(local.putMany([...fetched].map(([hash, bytes]) => ({ hash, bytes }))));
  return new Map([...known, ...fetched]);
}

/** A cache that has no room left is no failure: the bytes are there, and are fetched again next time. */
async function remember(kept: Promise<unknown>): Promise<void> {
  try {
    await kept;
  } catch (error) {
    if (!(error instanceof HostError && (error.code === 'ENOSPC' || error.code === 'EDQUOT'))) throw error;
  }
}
