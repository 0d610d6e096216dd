import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { BlobFault } from '../blobs/blob-fault.ts';
import type { BlobHash } from '../blobs/blob-store.ts';
import type { BlobPlace, DirectoryStore } from '../blobs/directory-store.ts';
import { toHostError } from '../host/node/system-error.ts';

/** Bytes on their way in and out, a piece at a time: memory stays the same whatever their size. */

const pieceBytes = 1024 * 1024;

/** Stores what arrives, if it is what its name says. What breaks off, or is something else, leaves nothing. */
export async function receiveBlob(store: DirectoryStore, hash: BlobHash, body: Readable): Promise<void> {
  const path = store.incomingPath();
  const file = await onDisk(path, open(path, 'wx', 0o400));
  let kept = false;
  try {
    const found = await writeAll(file, body, path);
    if (found.hash !== hash) {
      const message = `${found.sizeBytes} bytes arrived as blob ${hash} but their hash is ${found.hash}; send them again`;
      throw new BlobFault('HASH_MISMATCH', message, hash);
    }
    await onDisk(path, file.sync());
    await file.close();
    await store.adopt(path, hash);
    kept = true;
  } finally {
    await file.close().catch(() => {});
    if (!kept) await rm(path, { force: true });
  }
}

async function writeAll(file: FileHandle, body: Readable, path: string): Promise<{ hash: string; sizeBytes: number }> {
  const digest = createHash('sha256');
  let sizeBytes = 0;
  for await (const part of body as AsyncIterable<Uint8Array>) {
    digest.update(part);
    for (let done = 0; done < part.length; ) {
      done += (await onDisk(path, file.write(part, done, part.length - done))).bytesWritten;
    }
    sizeBytes += part.length;
  }
  return { hash: digest.digest('hex'), sizeBytes };
}

/** The bytes of a blob from an offset on. Fails at the end when the whole is not what its name says. */
export async function* readBlob(hash: BlobHash, place: BlobPlace, fromBytes: number): AsyncGenerator<Uint8Array> {
  if (place.sizeBytes === fromBytes) return;
  const start = place.offsetBytes + fromBytes;
  const end = place.offsetBytes + place.sizeBytes - 1;
  const digest = createHash('sha256');
  for await (const part of createReadStream(place.path, { start, end, highWaterMark: pieceBytes })) {
    digest.update(part as Buffer);
    yield part as Buffer;
  }
  if (fromBytes > 0 || digest.digest('hex') === hash) return;
  throw new BlobFault('CORRUPT_BLOB', `blob ${hash} in ${place.path} does not have the content its name says`, hash);
}

/** A full disk keeps its name. */
async function onDisk<Result>(path: string, work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw toHostError(error, path);
  }
}
