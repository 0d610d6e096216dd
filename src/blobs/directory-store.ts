import { HostError } from '../host/files.ts';
import { toHex } from '../host/hex.ts';
import { BlobFault } from './blob-fault.ts';
import { readMany, readOne } from './blob-reads.ts';
import type { BlobHash, BlobStore, StoredFile } from './blob-store.ts';
import { collectGarbage } from './garbage.ts';
import { isBlobHash } from './hex.ts';
import { openLooseSet } from './loose-set.ts';
import { openPackSet } from './pack-set.ts';
import type { StorageHost } from './storage-host.ts';
import { packBytes, packedBlobBytes, type StoreParts } from './store-parts.ts';

/** What a store in a directory can do beyond others, for bytes that come and go as streams. */
export interface DirectoryStore extends BlobStore {
  /** A path that nothing has yet, on the store's own disk, for bytes that arrive. */
  incomingPath(): string;
  /**
   * Takes over a file at such a path, written and flushed, whose hash was computed while it was written; false when
   * the store had these bytes already.
   */
  adopt(path: string, hash: BlobHash): Promise<boolean>;
  /** Where a blob lies now, as a part of a file; counts as new for garbage collection. Null when it is not stored. */
  locate(hash: BlobHash): Promise<BlobPlace | null>;
}

export interface BlobPlace {
  readonly path: string;
  readonly offsetBytes: number;
  readonly sizeBytes: number;
}

const formatMark = 'runyard blobs 1\n';

/**
 * Blobs in a directory that any number of processes may use at once: each writes whole files under temporary names and
 * renames them, and nothing is changed in place. Throws BlobFault `BAD_STORE` when the directory holds another format.
 */
export async function openDirectoryStore(options: { directory: string; host: StorageHost }): Promise<DirectoryStore> {
  const { host } = options;
  await host.files.makeDirectory(options.directory, { mode: 0o700 });
  const directory = (await host.files.realPath(options.directory)) ?? options.directory;
  const loose = openLooseSet(`${directory}/loose`, host);
  const packs = openPackSet(`${directory}/packs`, host);
  const parts: StoreParts = { directory, host, loose, packs };
  await prepare(parts);
  await packs.refresh();

  return {
    missing: (hashes) => listMissing(parts, hashes),
    put: (bytes, expected) => putOne(parts, bytes, expected),
    putMany: (blobs) => putPacked(parts, blobs),
    putFile: (path) => putFile(parts, path),
    incomingPath: () => incomingPath(parts),
    adopt: (path, hash) => adopt(parts, path, hash),
    locate: (hash) => locate(parts, hash),
    get: (hash) => readOne(parts, hash),
    getMany: (hashes) => readMany(parts, hashes),
    extract: (hash, path, { mode }) => extract(parts, hash, { path, mode }),
    collectGarbage: (request) => collectGarbage(parts, request),
  };
}

async function prepare({ directory, host: { files } }: StoreParts): Promise<void> {
  const markPath = `${directory}/format`;
  const mark = await files.read(markPath);
  if (mark === null) {
    await files.makeDirectory(`${directory}/packs`, { mode: 0o700 });
    await files.makeDirectory(`${directory}/incoming`, { mode: 0o700 });
    await files.makeDirectory(`${directory}/loose`, { mode: 0o700 });
    await files.writeAtomic(markPath, new TextEncoder().encode(formatMark), { mode: 0o600, sync: true });
    return;
  }
  const found = new TextDecoder().decode(mark);
  if (found === formatMark) return;
  const expected = JSON.stringify(formatMark);
  const message = `${markPath} says ${JSON.stringify(found.slice(0, 40))}, this version reads ${expected} only`;
  throw new BlobFault('BAD_STORE', message, null);
}

/** Touches what is stored, so that garbage collection leaves it alone while the one who asked builds on the answer. */
async function listMissing(parts: StoreParts, hashes: readonly BlobHash[]): Promise<readonly BlobHash[]> {
  const { packs, loose, host } = parts;
  for (const hash of hashes) {
    if (!isBlobHash(hash))
      throw new BlobFault('BAD_HASH', `${JSON.stringify(hash)} is no SHA-256 in lower-case hex`, null);
  }
  await packs.refresh();
  const packed = new Set<BlobHash>();
  const byPack = new Map<string, BlobHash[]>();
  for (const hash of hashes) {
    const place = packs.find(hash).at(-1);
    if (place === undefined) continue;
    const inside = byPack.get(place.pack.path) ?? [];
    inside.push(hash);
    byPack.set(place.pack.path, inside);
  }
  for (const [path, inside] of byPack) {
    if (await touch(host, path)) for (const hash of inside) packed.add(hash);
  }
  const rest = hashes.filter((hash) => !packed.has(hash));
  const stats = await host.files.lstatMany(rest.map((hash) => loose.pathOf(hash)));
  const missing: BlobHash[] = [];
  for (const [i, hash] of rest.entries()) {
    if (stats[i] === null || !(await touch(host, loose.pathOf(hash)))) missing.push(hash);
  }
  return missing;
}

/** False when garbage collection was faster. */
function touch({ files, clock }: StorageHost, path: string): Promise<boolean> {
  return unlessAbsent(files.setTimes(path, clock.wallMs()));
}

async function putOne(parts: StoreParts, bytes: Uint8Array, expected: BlobHash | undefined): Promise<BlobHash> {
  const hash = verified(parts.host, bytes, expected);
  if ((await listMissing(parts, [hash])).length > 0) {
    await parts.loose.makeRoom(hash);
    await parts.host.files.writeAtomic(parts.loose.pathOf(hash), bytes, { mode: 0o400, sync: true });
  }
  return hash;
}

function verified({ digests }: StorageHost, bytes: Uint8Array, expected: BlobHash | undefined): BlobHash {
  const hash = digests.sha256(bytes);
  if (expected === undefined || expected === hash) return hash;
  const message = `${bytes.length} bytes arrived as blob ${expected} but their hash is ${hash}; send them again`;
  throw new BlobFault('HASH_MISMATCH', message, expected);
}

async function putPacked(
  parts: StoreParts,
  blobs: readonly { readonly hash: BlobHash; readonly bytes: Uint8Array }[],
): Promise<void> {
  for (const { hash, bytes } of blobs) verified(parts.host, bytes, hash);
  const missing = new Set(await listMissing(parts, [...new Set(blobs.map(({ hash }) => hash))]));
  const fresh = blobs.filter(({ hash }) => missing.delete(hash));
  const large = fresh.filter(({ bytes }) => bytes.length > packedBlobBytes);
  for (const { hash, bytes } of large) await putOne(parts, bytes, hash);
  const small = fresh.filter(({ bytes }) => bytes.length <= packedBlobBytes);
  for (const group of groupBySize(small)) {
    const [only] = group;
    if (group.length === 1 && only !== undefined) await putOne(parts, only.bytes, only.hash);
    else await parts.packs.add(group);
  }
}

/** Cuts blobs into groups that each fill at most one pack. */
function groupBySize<T extends { readonly bytes: Uint8Array }>(blobs: readonly T[]): readonly (readonly T[])[] {
  const groups: T[][] = [];
  let leftBytes = 0;
  for (const blob of blobs) {
    if (groups.length === 0 || blob.bytes.length > leftBytes) {
      groups.push([]);
      leftBytes = packBytes;
    }
    groups.at(-1)?.push(blob);
    leftBytes -= blob.bytes.length;
  }
  return groups;
}

/** Hashes the copy, not the source, so that the name is right even when the source changes under the copy. */
async function putFile(parts: StoreParts, path: string): Promise<StoredFile> {
  const { files, digests } = parts.host;
  const incoming = incomingPath(parts);
  try {
    const { before, after } = await files.copyFile(path, incoming, { mode: 0o400, sync: true });
    const digest = await digests.sha256File(incoming);
    if (digest === null) throw new BlobFault('BAD_STORE', `${incoming} vanished while it was stored`, null);
    return { ...digest, isNew: await adopt(parts, incoming, digest.hash), before, after };
  } catch (error) {
    await files.remove(incoming);
    throw error;
  }
}

function incomingPath({ directory, host }: StoreParts): string {
  return `${directory}/incoming/${toHex(host.chance.bytes(16))}`;
}

/** False when the store had these bytes already. */
async function adopt(parts: StoreParts, path: string, hash: BlobHash): Promise<boolean> {
  const { loose, host } = parts;
  const isNew = (await listMissing(parts, [hash])).length > 0;
  if (isNew) {
    await loose.makeRoom(hash);
    await host.files.rename(path, loose.pathOf(hash), { sync: true });
  } else {
    await host.files.remove(path);
  }
  return isNew;
}

async function locate(parts: StoreParts, hash: BlobHash): Promise<BlobPlace | null> {
  const { loose, packs, host } = parts;
  if ((await listMissing(parts, [hash])).length > 0) return null;
  const packed = packs.find(hash).at(-1);
  if (packed !== undefined) {
    return { path: packed.pack.path, offsetBytes: packed.offset, sizeBytes: packed.length };
  }
  const stat = await host.files.stat(loose.pathOf(hash));
  return stat === null ? null : { path: loose.pathOf(hash), offsetBytes: 0, sizeBytes: stat.sizeBytes };
}

async function extract(parts: StoreParts, hash: BlobHash, to: { path: string; mode: number }): Promise<boolean> {
  const { host, loose } = parts;
  const { files, digests } = host;
  if (await unlessAbsent(files.copyFile(loose.pathOf(hash), to.path, { mode: to.mode }))) {
    if ((await digests.sha256File(to.path))?.hash === hash) return true;
    await files.remove(to.path);
  }
  // Packed, or the loose copy is damaged: reading says which.
  const bytes = await readOne(parts, hash);
  if (bytes === null) return false;
  await files.write(to.path, bytes, { mode: to.mode });
  return true;
}

/** False when the file to work on was not there, or garbage collection was faster. */
async function unlessAbsent(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (error instanceof HostError && error.code === 'ENOENT') return false;
    throw error;
  }
}
