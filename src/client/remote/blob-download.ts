import { createHash, type Hash } from 'node:crypto';
import { constants, type FileHandle, open, rm } from 'node:fs/promises';
import { BlobFault } from '../../blobs/blob-fault.ts';
import type { BlobHash } from '../../blobs/blob-store.ts';
import { toHostError } from '../../host/node/system-error.ts';
import { askPatiently, type Http } from './http.ts';

/**
 * Writes one content of the server to a path, verified and without holding it. A cut is gone on from where it was, where
 * the server can; otherwise it begins anew. What went wrong leaves no file. Refused with NOT_FOUND when it is not there.
 */
export async function downloadBlob(
  http: Http,
  { hash, path, mode }: { readonly hash: BlobHash; readonly path: string; readonly mode: number },
): Promise<void> {
  const file = await opening(path, mode);
  const state = { digest: createHash('sha256'), sizeBytes: 0 };
  let complete = false;
  try {
    await askPatiently({ http }, {}, () => receive(http, { hash, path, file }, state));
    const found = state.digest.digest('hex');
    if (found !== hash) {
      const message = `${state.sizeBytes} bytes arrived as blob ${hash} but their hash is ${found}`;
      throw new BlobFault('HASH_MISMATCH', message, hash);
    }
    await onDisk(path, file.chmod(mode));
    complete = true;
  } finally {
    await file.close();
    if (!complete) await rm(path, { force: true });
  }
}

async function receive(
  http: Http,
  { hash, path, file }: { hash: BlobHash; path: string; file: FileHandle },
  state: { digest: Hash; sizeBytes: number },
): Promise<void> {
  const { status, body } = await http.open('getBlob', { params: { hash }, rangeFromBytes: state.sizeBytes });
  try {
    if (status !== 206) {
      state.digest = createHash('sha256');
      state.sizeBytes = 0;
    }
    for await (const part of body as AsyncIterable<Uint8Array>) {
      await onDisk(path, writeAll(file, part, state.sizeBytes));
      state.digest.update(part);
      state.sizeBytes += part.length;
    }
    await onDisk(path, file.truncate(state.sizeBytes));
  } finally {
    body.destroy();
  }
}

async function writeAll(file: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await file.write(bytes, done, bytes.length - done, at + done)).bytesWritten;
  }
}

/** Replaces what is there, and never writes through a link. Others may not read it before it is whole. */
function opening(path: string, mode: number): Promise<FileHandle> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;
  return onDisk(path, open(path, flags, (mode & 0o700) | 0o600));
}

/** An error of the disk keeps its code and says which path; those of the network are told apart by that. */
async function onDisk<Result>(path: string, work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw toHostError(error, path);
  }
}
