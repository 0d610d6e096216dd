import type { LooseSet } from './loose-set.ts';
import type { PackSet } from './pack-set.ts';
import type { StorageHost } from './storage-host.ts';

/** Blobs up to this size share pack files. */
export const packedBlobBytes = 64 * 1024;
/** A pack takes no further blob beyond this. */
export const packBytes = 64 * 1024 * 1024;

/** What the parts of a store share. */
export interface StoreParts {
  readonly directory: string;
  readonly host: StorageHost;
  readonly loose: LooseSet;
  readonly packs: PackSet;
}
