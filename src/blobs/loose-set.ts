import type { BlobHash } from './blob-store.ts';
import type { StorageHost } from './storage-host.ts';

/** Blobs that are files of their own, in 256 folders by the first two digits of their name. */
export interface LooseSet {
  pathOf(hash: BlobHash): string;
  /** Makes the blob's folder; costs nothing once this process has seen it. */
  makeRoom(hash: BlobHash): Promise<void>;
  /** Every loose blob; names that are no hash are left out. */
  list(): Promise<readonly { hash: BlobHash; path: string }[]>;
}

export function openLooseSet(directory: string, { files }: StorageHost): LooseSet {
  const pathOf = (hash: BlobHash): string => `${directory}/${hash.slice(0, 2)}/${hash.slice(2)}`;
  const seen = new Set<string>();
  return {
    pathOf,
    async makeRoom(hash) {
      const prefix = hash.slice(0, 2);
      if (seen.has(prefix)) return;
      await files.makeDirectory(`${directory}/${prefix}`, { mode: 0o700, sync: true });
      seen.add(prefix);
    },
    async list() {
      const found: { hash: BlobHash; path: string }[] = [];
      for (const folder of (await files.list(directory)) ?? []) {
        for (const { name } of (await files.list(`${directory}/${folder.name}`)) ?? []) {
          const hash = folder.name + name;
          if (/^[0-9a-f]{64}$/.test(hash)) found.push({ hash, path: `${directory}/${folder.name}/${name}` });
        }
      }
      return found;
    },
  };
}
