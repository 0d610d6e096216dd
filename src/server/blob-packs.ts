import type { Readable } from 'node:stream';
import type { BlobHash, BlobStore } from '../blobs/blob-store.ts';
import type { DirectoryStore } from '../blobs/directory-store.ts';
import { fromHex } from '../blobs/hex.ts';
import { encodePack, isPack, listIndex, rebuildIndex } from '../blobs/pack-format.ts';
import type { Digests } from '../host/bytes.ts';
import { refused } from './http-refusal.ts';

/** Many small blobs in one body, in the format of the store's own packs. */

/** About so much goes into one pack; a blob that is larger goes alone. */
const packBytes = 8 * 1024 * 1024;
/** What is larger than this is asked for by itself. */
const largestBytes = 64 * 1024 * 1024;

/** Stores every blob of a pack; each is verified against its hash. */
export async function receivePack(store: BlobStore, body: Readable): Promise<void> {
  const parts: Uint8Array[] = [];
  for await (const part of body as AsyncIterable<Uint8Array>) parts.push(part);
  const file = new Uint8Array(Buffer.concat(parts));
  if (!isPack(file)) throw refused('BAD_REQUEST', 'the body is no pack of blobs');
  const blobs = listIndex(rebuildIndex(file)).map(({ hash, offset, length }) => ({
    hash,
    bytes: file.subarray(offset, offset + length),
  }));
  await store.putMany(blobs);
}

/** As many of these as fit into one pack, in their order; those that are not stored are left out. */
export async function packOf(
  store: DirectoryStore,
  hashes: readonly BlobHash[],
  digests: Digests,
): Promise<Uint8Array> {
  const chosen: BlobHash[] = [];
  let sizeBytes = 0;
  for (const hash of hashes) {
    const place = await store.locate(hash);
    if (place === null || place.sizeBytes > largestBytes) continue;
    if (chosen.length > 0 && sizeBytes + place.sizeBytes > packBytes) break;
    chosen.push(hash);
    sizeBytes += place.sizeBytes;
  }
  const found = await store.getMany(chosen);
  return encodePack(
    [...found].map(([hash, bytes]) => ({ key: fromHex(hash), bytes })),
    (bytes) => fromHex(digests.sha256(bytes)),
  );
}
