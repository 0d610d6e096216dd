import type { BlobHash } from './blob-store.ts';

/** One thing in a tree. Paths are relative, with `/`, sorted by their bytes; parents come before children. */
export type ManifestEntry =
  | {
      readonly kind: 'file';
      readonly path: string;
      readonly mode: number;
      readonly sizeBytes: number;
      readonly hash: BlobHash;
    }
  | { readonly kind: 'directory'; readonly path: string; readonly mode: number }
  | { readonly kind: 'link'; readonly path: string; readonly target: string };

/** A tree by content: the same tree has the same manifest, and so the same hash. */
export interface Manifest {
  readonly version: 1;
  readonly entries: readonly ManifestEntry[];
}
