import { createHash, hash, timingSafeEqual } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { Digests } from '../bytes.ts';
import { isAbsent, toHostError } from './system-error.ts';

export function createNodeDigests(): Digests {
  return { sha256: (bytes) => hash('sha256', bytes, 'hex'), sha256File, timingSafeEqual: isEqual };
}

function isEqual(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

async function sha256File(path: string): Promise<{ hash: string; sizeBytes: number } | null> {
  const digest = createHash('sha256');
  let sizeBytes = 0;
  try {
    const stream: AsyncIterable<Uint8Array> = createReadStream(path, { highWaterMark: 1024 * 1024 });
    for await (const part of stream) {
      digest.update(part);
      sizeBytes += part.length;
    }
  } catch (error) {
    if (isAbsent(error)) return null;
    throw toHostError(error, path);
  }
  return { hash: digest.digest('hex'), sizeBytes };
}
