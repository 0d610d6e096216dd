import { BlobFault } from '../../blobs/blob-fault.ts';
import type { BlobHash, BlobStore } from '../../blobs/blob-store.ts';
import { fromHex } from '../../blobs/hex.ts';
import { encodePack, listIndex, rebuildIndex } from '../../blobs/pack-format.ts';
import type { StorageHost } from '../../blobs/storage-host.ts';
import { RefusalError } from '../refusal-error.ts';
import { downloadBlob } from './blob-download.ts';
import { uploadFile } from './blob-upload.ts';
import { askPatiently, type Http } from './http.ts';
import { readBytes } from './transport.ts';

/** Hashes in one question; the server takes no more. */
const hashesAtOnce = 10_000;
/** Small blobs that travel together, up to about so much. */
const packedBytes = 4 * 1024 * 1024;
const packsAtOnce = 4;
const fetchedAtOnce = 512;

/**
 * The blobs of a server. Small ones travel in packs, large ones as streams of constant memory; every byte is verified
 * where it arrives, and what a cut broke off goes on or is sent again.
 */
export function createRemoteBlobs(
  http: Http,
  {
    host,
    temporary,
  }: {
    readonly host: StorageHost /** A folder for copies of files that never hold still. */;
    readonly temporary: string;
  },
): BlobStore {
  const store: BlobStore = {
    missing: (hashes) => listMissing(http, hashes),
    async put(bytes, expected) {
      const hash = host.digests.sha256(bytes);
      if (expected !== undefined && expected !== hash) throw mismatch(bytes.length, expected, hash);
      if ((await listMissing(http, [hash])).length > 0) await http.call('putBlob', { params: { hash }, body: bytes });
      return hash;
    },
    putMany: (blobs) => putPacks({ http, host }, blobs),
    putFile(path, { onSent = () => {} } = {}) {
      return uploadFile({ http, host, temporary, missing: (hash) => isMissing(http, hash), onSent }, path);
    },
    async get(hash) {
      const bytes = await orNull(
        askPatiently({ http }, {}, async () => readBytes(await http.open('getBlob', { params: { hash } }))),
      );
      if (bytes !== null && host.digests.sha256(bytes) !== hash) throw mismatch(bytes.length, hash, 'another');
      return bytes;
    },
    getMany: (hashes) => fetchPacks({ http, host }, hashes),
    async extract(hash, path, { mode }) {
      return (await orNull(downloadBlob(http, { hash, path, mode }))) !== null;
    },
    collectGarbage() {
      throw new Error('the bytes of a server are collected by the server (yard prune asks it to)');
    },
  };
  return store;
}

async function listMissing(http: Http, hashes: readonly BlobHash[]): Promise<readonly BlobHash[]> {
  const missing: BlobHash[] = [];
  for (let at = 0; at < hashes.length; at += hashesAtOnce) {
    const answer = await http.call('missingBlobs', { body: { hashes: hashes.slice(at, at + hashesAtOnce) } });
    missing.push(...answer.missing);
  }
  return missing;
}

async function isMissing(http: Http, hash: BlobHash): Promise<boolean> {
  return (await listMissing(http, [hash])).length > 0;
}

interface Blob {
  readonly hash: BlobHash;
  readonly bytes: Uint8Array;
}

interface Parts {
  readonly http: Http;
  readonly host: StorageHost;
}

/** A few packs are on their way at once, so that the distance to the server is paid less often. */
async function putPacks({ http, host }: Parts, blobs: readonly Blob[]): Promise<void> {
  const packs = [...groupBySize(blobs)].reverse();
  const digest = (bytes: Uint8Array): Uint8Array => fromHex(host.digests.sha256(bytes));
  const work = async (): Promise<void> => {
    for (let pack = packs.pop(); pack !== undefined; pack = packs.pop()) {
      const body = encodePack(
        pack.map(({ hash, bytes }) => ({ key: fromHex(hash), bytes })),
        digest,
      );
      await http.call('putBlobs', { body });
    }
  };
  const results = await Promise.allSettled(Array.from({ length: packsAtOnce }, work));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

function* groupBySize(blobs: readonly Blob[]): Generator<readonly Blob[]> {
  let group: Blob[] = [];
  let sizeBytes = 0;
  for (const blob of new Map(blobs.map((one) => [one.hash, one])).values()) {
    if (group.length > 0 && sizeBytes + blob.bytes.length > packedBytes) {
      yield group;
      group = [];
      sizeBytes = 0;
    }
    group.push(blob);
    sizeBytes += blob.bytes.length;
  }
  if (group.length > 0) yield group;
}

/** The server sends as many as it likes of those asked for; the rest is asked for again until none comes. */
async function fetchPacks(
  { http, host }: Parts,
  hashes: readonly BlobHash[],
): Promise<ReadonlyMap<BlobHash, Uint8Array>> {
  const found = new Map<BlobHash, Uint8Array>();
  let wanted = [...new Set(hashes)];
  while (wanted.length > 0) {
    const batch = wanted.slice(0, fetchedAtOnce);
    const file = await askPatiently({ http }, {}, async () =>
      readBytes(await http.open('getBlobs', { body: { hashes: batch } })),
    );
    let came = 0;
    for (const { hash, offset, length } of listIndex(rebuildIndex(file))) {
      const bytes = file.subarray(offset, offset + length);
      if (host.digests.sha256(bytes) !== hash) throw mismatch(length, hash, 'another');
      found.set(hash, bytes);
      came += 1;
    }
    // None of them: the server has none of these.
    const rest = came === 0 ? [] : batch.filter((hash) => !found.has(hash));
    wanted = [...rest, ...wanted.slice(batch.length)];
  }
  return found;
}

/** What the server does not have is null here. */
async function orNull<Result>(work: Promise<Result>): Promise<Result | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof RefusalError && error.code === 'NOT_FOUND') return null;
    throw error;
  }
}

function mismatch(sizeBytes: number, expected: BlobHash, found: string): BlobFault {
  const message = `${sizeBytes} bytes arrived as blob ${expected} but their hash is ${found}`;
  return new BlobFault('HASH_MISMATCH', message, expected);
}
