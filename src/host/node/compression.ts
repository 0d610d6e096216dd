import { promisify } from 'node:util';
import { gunzip as gunzipCallback, gzip as gzipCallback } from 'node:zlib';
import type { Compression } from '../bytes.ts';
import { HostError } from '../files.ts';
import { codeOf, toHostError } from './system-error.ts';

const gzipAsync = promisify<Uint8Array, { level: number }, Uint8Array>(gzipCallback);
const gunzipAsync = promisify<Uint8Array, { maxOutputLength: number }, Uint8Array>(gunzipCallback);

export function createNodeCompression(): Compression {
  return { gzip: (bytes) => gzipAsync(bytes, { level: 6 }), gunzip };
}

async function gunzip(bytes: Uint8Array, maxBytes: number): Promise<Uint8Array> {
  try {
    return await gunzipAsync(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE') {
      const message = `${bytes.length} compressed bytes hold more than the ${maxBytes} bytes that are allowed`;
      throw new HostError('TOO_LARGE', message, null, error);
    }
    throw toHostError(error, null);
  }
}
