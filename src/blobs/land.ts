import { HostError } from '../host/files.ts';
import { toHex } from '../host/hex.ts';
import type { BlobStore } from './blob-store.ts';
import type { Manifest, ManifestEntry } from './manifest.ts';
import { checkManifest } from './manifest-codec.ts';
import { writeEntries } from './materialise.ts';
import type { StorageHost } from './storage-host.ts';
import { checkOutputPath, isWithin, parentOf } from './tree-path.ts';
import { TreeRefusal } from './tree-refusal.ts';
import { landingPrefix } from './walk.ts';

export interface LandOptions {
  readonly manifest: Manifest;
  readonly store: BlobStore;
  /** Made when it is absent. */
  readonly directory: string;
  /**
   * Paths, as declared as outputs, that replace whatever stands there. Absent: everything, and a folder that is there
   * already keeps what else is in it.
   */
  readonly paths?: readonly string[];
  readonly host: StorageHost;
  readonly onProgress?: (progress: { path: string; files: number; bytes: number }) => void;
  readonly signal?: AbortSignal;
}

/** A crash leaves its half-written folder behind; after this long it is nobody's. */
const leftoverMs = 24 * 3_600_000;

/**
 * Brings a tree home. Each path is written beside its place and then renamed, so it is there whole or not at all.
 * Returns the paths that landed, in order. Throws BlobFault for bad or missing content, TreeRefusal `PATH_ESCAPE` where
 * a link in the landing directory would lead the bytes elsewhere, and `LANDING_CONFLICT` where only `paths` may replace.
 */
export async function landTree(options: LandOptions): Promise<readonly string[]> {
  const { manifest, host } = options;
  checkManifest(manifest);
  await host.files.makeDirectory(options.directory);
  const root = (await host.files.realPath(options.directory)) ?? options.directory;
  await removeLeftovers(root, host);
  const staging = `${root}/${landingPrefix}${toHex(host.chance.bytes(8))}`;
  await host.files.makeDirectory(staging, { mode: 0o700 });
  const landed: string[] = [];
  try {
    for (const [i, path] of (await landingPaths(options, root)).entries()) {
      const entries = rebase(manifest.entries, path);
      if (entries.length === 0) continue;
      const fresh = `${staging}/${i}`;
      await writeEntries(
        { ...options, directory: fresh, onProgress: (progress) => options.onProgress?.({ path, ...progress }) },
        entries,
      );
      await makeParents(root, path, host);
      await replace(host, { from: `${fresh}/new`, to: `${root}/${path}`, aside: `${staging}/${i}-old` });
      landed.push(path);
    }
  } finally {
    await host.files.remove(staging);
  }
  return landed;
}

async function landingPaths({ manifest, paths, host }: LandOptions, root: string): Promise<readonly string[]> {
  if (paths === undefined) return freePaths(manifest, root, host);
  const wanted = paths.map(checkOutputPath).flatMap((check) => (check.kind === 'inside' ? [check.path] : []));
  // Without those that another one holds already.
  return wanted.filter((path, i) => {
    return !wanted.some((other, j) => (other === path ? j < i : isWithin(path, other)));
  });
}

/** The largest parts of the tree that replace no folder: one that is there already is added to. */
async function freePaths(manifest: Manifest, root: string, { files }: StorageHost): Promise<readonly string[]> {
  const free: string[] = [];
  const shared = new Set(['']);
  for (const { kind, path } of manifest.entries) {
    if (!shared.has(parentOf(path))) continue;
    const standing = (await files.lstat(`${root}/${path}`))?.kind ?? null;
    if (standing === null || (standing !== 'directory' && kind !== 'directory')) free.push(path);
    else if (standing === kind) shared.add(path);
    else throw conflict(`${root}/${path}`, { standing, arriving: kind });
  }
  return free;
}

function conflict(path: string, { standing, arriving }: { standing: string; arriving: string }): TreeRefusal {
  return new TreeRefusal('LANDING_CONFLICT', {
    path,
    message: `a ${arriving} cannot land at ${path}: a ${standing} is there`,
    hint: 'move it away, or land elsewhere with --to',
  });
}

/** The entries at and below a path, with `new` in its place. */
function rebase(entries: readonly ManifestEntry[], path: string): readonly ManifestEntry[] {
  return entries
    .filter((entry) => isWithin(entry.path, path))
    .map((entry) => ({ ...entry, path: `new${entry.path.slice(path.length)}` }));
}

async function makeParents(root: string, path: string, host: StorageHost): Promise<void> {
  const parent = parentOf(path);
  if (parent === '') return;
  await makeParents(root, parent, host);
  const stat = await host.files.lstat(`${root}/${parent}`);
  if (stat === null) return host.files.makeDirectory(`${root}/${parent}`);
  if (stat.kind === 'directory') return;
  throw new TreeRefusal('PATH_ESCAPE', {
    path: parent,
    message: `${path} cannot land: ${root}/${parent} is a ${stat.kind}, not a folder`,
    hint: 'move it away, or land elsewhere with --to',
  });
}

/** One rename where the system can replace what stands there; else the old goes aside first, and back if need be. */
async function replace(
  host: StorageHost,
  { from, to, aside }: { from: string; to: string; aside: string },
): Promise<void> {
  const { files } = host;
  const [old, fresh] = await files.lstatMany([to, from]);
  const isFolder = old?.kind === 'directory' || fresh?.kind === 'directory';
  if (old === null || old === undefined || !isFolder) return files.rename(from, to);
  await files.rename(to, aside);
  try {
    await files.rename(from, to);
  } catch (error) {
    await files.rename(aside, to);
    throw error;
  }
}

async function removeLeftovers(root: string, { files, clock }: StorageHost): Promise<void> {
  for (const { name, kind } of (await files.list(root)) ?? []) {
    if (kind !== 'directory' || !name.startsWith(landingPrefix)) continue;
    const stat = await files.lstat(`${root}/${name}`);
    if (stat === null || clock.wallMs() - stat.mtimeMs < leftoverMs) continue;
    try {
      await files.remove(`${root}/${name}`);
    } catch (error) {
      // Another user's leftover is theirs to remove and in nobody's way.
      if (!(error instanceof HostError && (error.code === 'EACCES' || error.code === 'EPERM'))) throw error;
    }
  }
}
