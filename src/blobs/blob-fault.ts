import type { BlobHash } from './blob-store.ts';

/** What is wrong with stored or arriving bytes. None of these is the user's doing. */
export type BlobFaultCode =
  | 'HASH_MISMATCH'
  | 'BAD_HASH'
  | 'CORRUPT_BLOB'
  | 'MISSING_BLOB'
  | 'BAD_MANIFEST'
  | 'BAD_STORE';

export class BlobFault extends Error {
  readonly code: BlobFaultCode;
  readonly hash: BlobHash | null;
  constructor(code: BlobFaultCode, message: string, hash: BlobHash | null, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'BlobFault';
    this.code = code;
    this.hash = hash;
  }
}
