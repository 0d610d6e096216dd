import type { Host } from '../host/host.ts';
import type { BlobHash } from './blob-store.ts';

/** Blobs that are files of their own, in 256 folders by the first two digits of their name. */
export interface LooseSet {
  pathOf(hash: BlobHash): string;
  /** Makes the folders; free when they are there. */
  prepare(): Promise<void>;
  /** Every loose blob; names that are no hash are left out. */
  list(): Promise<readonly { hash: BlobHash; path: string }[]>;
}

export function openLooseSet(directory: string, { files }: Host): LooseSet {
  const pathOf = (hash: BlobHash): string => `${directory}/${hash.slice(0, 2)}/${hash.slice(2)}`;
  return {
    pathOf,
    async prepare() {
      for (let prefix = 0; prefix < 256; prefix++) {
        await files.makeDirectory(`${directory}/${prefix.toString(16).padStart(2, '0')}`, { mode: 0o700 });
      }
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
