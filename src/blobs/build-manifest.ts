import { compareByBytes } from '../host/byte-order.ts';
import type { Manifest, ManifestEntry } from './manifest.ts';
import type { StoredEntry } from './read-tree.ts';
import type { Found, Tree } from './walk.ts';

/** The manifest of what was found and stored, with plain permission bits, in byte order. */
export function buildManifest(tree: {
  files: readonly StoredEntry[];
  directories: readonly Found[];
  links: Tree['links'];
}): Manifest {
  const entries: ManifestEntry[] = [
    ...tree.files.map(({ path, mode, sizeBytes, hash }) => ({
      kind: 'file' as const,
      path,
      mode: mode & 0o777,
      sizeBytes,
      hash,
    })),
    ...tree.directories.map(({ path, stat }) => ({ kind: 'directory' as const, path, mode: stat.mode & 0o777 })),
    ...tree.links.map(({ path, target }) => ({ kind: 'link' as const, path, target })),
  ];
  return { version: 1, entries: entries.sort((left, right) => compareByBytes(left.path, right.path)) };
}
