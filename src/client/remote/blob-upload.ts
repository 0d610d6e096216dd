import { createHash } from 'node:crypto';
import { closeSync, fstatSync, read } from 'node:fs';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import type { BlobHash, StoredFile } from '../../blobs/blob-store.ts';
import type { StorageHost } from '../../blobs/storage-host.ts';
import { refuse } from '../../core/refusal.ts';
import { HostError } from '../../host/files.ts';
import { toHex } from '../../host/hex.ts';
import { openRegular } from '../../host/node/file-reads.ts';
import { toFileStat } from '../../host/node/file-stat.ts';
import { toHostError } from '../../host/node/system-error.ts';
import { RefusalError } from '../refusal-error.ts';
import type { Http } from './http.ts';

interface Place {
  readonly http: Http;
  readonly host: StorageHost;
  readonly temporary: string;
  readonly missing: (hash: BlobHash) => Promise<boolean>;
  readonly onSent: (bytes: number) => void;
}

const readAsync = promisify(read);
const pieceBytes = 1024 * 1024;
const tries = 3;

/**
 * Stores a file's content at the server, read twice and never held: once for its name, once to be sent. One that changes
 * between the two is refused there and read again; one that never holds still is copied first.
 */
export async function uploadFile(place: Place, path: string): Promise<StoredFile> {
  for (let attempt = 0; attempt < tries; attempt += 1) {
    try {
      return await uploadOpened(place, path);
    } catch (error) {
      if (!(error instanceof RefusalError && error.code === 'BAD_VALUE' && error.path === 'hash')) throw error;
    }
  }
  return uploadCopy(place, path);
}

async function uploadCopy(place: Place, path: string): Promise<StoredFile> {
  const { host, temporary } = place;
  await host.files.makeDirectory(temporary, { mode: 0o700 });
  const copy = `${temporary}/${toHex(host.chance.bytes(16))}`;
  try {
    const { before, after } = await host.files.copyFile(path, copy, { mode: 0o600 });
    return { ...(await uploadOpened(place, copy)), before, after };
  } finally {
    await host.files.remove(copy);
  }
}

async function uploadOpened({ http, missing, onSent }: Place, path: string): Promise<StoredFile> {
  const opened = openRegular(path);
  if (opened === null) throw new HostError('ENOENT', `nothing to store at ${path}`, path);
  if (opened.kind === 'refused') {
    const code = opened.what === 'link' ? 'ELOOP' : 'EINVAL';
    throw new HostError(code, `expected a regular file at ${path}, found a ${opened.what}`, path);
  }
  const { fd } = opened;
  try {
    const before = toFileStat(fstatSync(fd));
    const { hash, sizeBytes } = await hashOpened(fd, path);
    const isNew = await missing(hash);
    if (isNew) {
      const body = { sizeBytes, open: () => Readable.from(promised(fd, sizeBytes, onSent), { objectMode: false }) };
      await http.call('putBlob', { params: { hash }, body });
    }
    return { hash, sizeBytes, isNew, before, after: toFileStat(fstatSync(fd)) };
  } finally {
    closeSync(fd);
  }
}

async function hashOpened(fd: number, path: string): Promise<{ hash: BlobHash; sizeBytes: number }> {
  const digest = createHash('sha256');
  let sizeBytes = 0;
  try {
    for await (const part of piecesOf(fd)) {
      digest.update(part);
      sizeBytes += part.length;
    }
  } catch (error) {
    throw toHostError(error, path);
  }
  return { hash: digest.digest('hex'), sizeBytes };
}

/** Exactly as many bytes as were promised: of a file that became shorter the server would wait for the rest. */
async function* promised(fd: number, sizeBytes: number, onSent: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  let leftBytes = sizeBytes;
  let complete = leftBytes === 0;
  try {
    for await (const part of piecesOf(fd)) {
      if (complete) return;
      const piece = part.subarray(0, leftBytes);
      yield piece;
      leftBytes -= piece.length;
      onSent(piece.length);
      complete = leftBytes === 0;
    }
  } finally {
    // What was cut is sent again from its beginning.
    if (!complete) onSent(leftBytes - sizeBytes);
  }
  if (complete) return;
  throw new RefusalError(refuse('BAD_VALUE', 'the file became shorter while it was sent', { path: 'hash' }));
}

/** A stream of Node's own would close the file at its end, and it is read more than once. */
async function* piecesOf(fd: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; ; ) {
    const { bytesRead, buffer } = await readAsync(fd, Buffer.allocUnsafe(pieceBytes), 0, pieceBytes, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
