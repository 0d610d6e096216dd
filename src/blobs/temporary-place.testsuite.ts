import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createNodeChance } from '../host/node/chance.ts';
import { createNodeClock } from '../host/node/clock.ts';
import { createNodeDigests } from '../host/node/digests.ts';
import { createNodeFiles } from '../host/node/files.ts';
import type { BlobStore } from './blob-store.ts';
import { openDirectoryStore } from './directory-store.ts';
import type { Manifest } from './manifest.ts';
import { type Pushed, type PushOptions, pushTree } from './push.ts';
import type { StorageHost } from './storage-host.ts';

/** Real files, clock and chance: nothing here is pretended. */
export const host: StorageHost = {
  files: createNodeFiles(),
  digests: createNodeDigests(),
  clock: createNodeClock(),
  chance: createNodeChance(),
};

/** In memory where the system offers it: some disks create files fifty times slower right after many were removed. */
const temporaryRoot = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** A folder that goes when the test ends. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(temporaryRoot, 'runyard-blobs-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** What stands at a path: text or bytes, a link's target, or null for an empty folder. */
export type Sketch = Record<string, string | Uint8Array | { link: string } | { mode: number; text: string } | null>;

export function draw(root: string, sketch: Sketch): void {
  mkdirSync(root, { recursive: true });
  for (const [name, what] of Object.entries(sketch)) {
    const path = join(root, name);
    mkdirSync(what === null ? path : dirname(path), { recursive: true });
    if (what === null) continue;
    if (typeof what === 'string' || what instanceof Uint8Array) writeFileSync(path, what);
    else if ('link' in what) symlinkSync(what.link, path);
    else {
      writeFileSync(path, what.text);
      chmodSync(path, what.mode);
    }
  }
}

/** Makes files look as if they had been written a minute ago, old enough for the stat cache. */
export function age(root: string, names: readonly string[]): void {
  const then = Date.now() / 1000 - 60;
  for (const name of names) utimesSync(join(root, name), then, then);
}

export interface Place {
  readonly base: string;
  readonly workspace: string;
  readonly store: BlobStore;
  push(options?: Partial<PushOptions>): Promise<Pushed>;
}

/** A workspace beside a store. */
export async function openPlace(sketch: Sketch): Promise<Place> {
  const base = temporaryFolder();
  const workspace = join(base, 'workspace');
  draw(workspace, sketch);
  const store = await openDirectoryStore({ directory: join(base, 'store'), host });
  const push = (options: Partial<PushOptions> = {}): Promise<Pushed> =>
    pushTree({
      directory: workspace,
      exclude: [],
      landing: [],
      store,
      statCachePath: join(base, 'stat-cache'),
      host,
      ...options,
    });
  return { base, workspace, store, push };
}

export function pathsOf(manifest: Manifest): readonly string[] {
  return manifest.entries.map(({ path }) => path);
}

export function filesOf(manifest: Manifest): readonly string[] {
  return manifest.entries.filter(({ kind }) => kind === 'file').map(({ path }) => path);
}
