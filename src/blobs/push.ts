import { HostError } from '../host/files.ts';
import type { BlobHash, BlobStore } from './blob-store.ts';
import { buildManifest } from './build-manifest.ts';
import { keepInside } from './link-target.ts';
import type { Manifest } from './manifest.ts';
import { encodeManifest } from './manifest-codec.ts';
import { noWorkspace } from './no-workspace.ts';
import { type StoredEntry, storeFiles } from './read-tree.ts';
import { createSizeGuard, type WorkspaceLimits } from './size-guard.ts';
import { openStatCache } from './stat-cache.ts';
import type { StorageHost } from './storage-host.ts';
import { isWithin } from './tree-path.ts';
import { TreeRefusal } from './tree-refusal.ts';
import { type Found, type Tree, walkTree } from './walk.ts';

export interface PushOptions {
  readonly directory: string;
  /** gitignore patterns, anchored at the directory. */
  readonly exclude: readonly string[];
  /** Absolute paths of folders that never travel. */
  readonly landing: readonly string[];
  readonly store: BlobStore;
  /** A folder for what pushes remember, one file for each workspace; made when it is absent. */
  readonly statCachePath: string;
  readonly host: StorageHost;
  readonly onProgress?: (progress: PushProgress) => void;
  /** Where to stop and say what to exclude; no limit when absent. */
  readonly limits?: WorkspaceLimits;
  readonly signal?: AbortSignal;
}

export interface PushProgress {
  /** Files that are in the store by now; their bytes, and those of files that are on their way. */
  readonly files: number;
  readonly bytes: number;
  readonly totalFiles: number;
  readonly totalBytes: number;
  readonly sentBytes: number;
}

export interface Pushed {
  readonly manifest: Manifest;
  /** The manifest's own blob. */
  readonly manifestHash: BlobHash;
  readonly files: number;
  readonly bytes: number;
  /** What the store lacked, the manifest left out. */
  readonly sentBytes: number;
  readonly sentBlobs: number;
}

/**
 * Brings a directory's tree into a store, sending only what the store lacks. Links stay links and are never followed.
 * Throws TreeRefusal for what cannot travel, HostError when the disk fails, and the signal's reason when it aborts.
 */
export async function pushTree(options: PushOptions): Promise<Pushed> {
  const root = await options.host.files.realPath(options.directory);
  if (root === null || (await options.host.files.stat(root))?.kind !== 'directory')
    throw noWorkspace(options.directory);
  try {
    return await pushFrom(options, root);
  } catch (error) {
    throw isUnreadable(error, root) ? unreadable(error, root) : error;
  }
}

async function pushFrom(options: PushOptions, root: string): Promise<Pushed> {
  const { host, store } = options;
  const startedWallMs = host.clock.wallMs();
  const tree = await walkWorkspace(options, root);
  const links = checkLinks(tree, root);
  const cache = await openStatCache({ folder: options.statCachePath, root, host, startedWallMs });

  const stored: StoredEntry[] = [];
  const counts = { bytes: 0, sentBytes: 0, sentBlobs: 0 };
  let partBytes = 0;
  const totalBytes = tree.files.reduce((sum, { stat }) => sum + stat.sizeBytes, 0);
  const report = (): void => {
    const { sentBytes } = counts;
    const bytes = counts.bytes + partBytes;
    options.onProgress?.({ files: stored.length, bytes, totalFiles: tree.files.length, totalBytes, sentBytes });
  };
  const onStored = (entry: StoredEntry): void => {
    stored.push(entry);
    counts.bytes += entry.sizeBytes;
    if (stored.length % 256 === 0) report();
  };

  const { known, unread } = await splitKnown(tree.files, (path, stat) => cache.find(path, stat), store);
  for (const entry of known) onStored(entry);
  await storeFiles({ root, store, host }, unread, {
    onStored(entry) {
      if (entry.stat !== null) cache.record(entry.path, entry.stat, entry.hash);
      onStored(entry);
    },
    onSent({ blobs, bytes }) {
      counts.sentBlobs += blobs;
      counts.sentBytes += bytes;
      report();
    },
    onPart(bytes) {
      partBytes += bytes;
      if (bytes > 0) report();
    },
    checkpoint: () => throwIfAborted(options.signal),
  });
  await cache.save();
  report();
  const manifest = buildManifest({ files: stored, directories: tree.directories, links });
  const manifestHash = await store.put(encodeManifest(manifest));
  return { manifest, manifestHash, files: stored.length, ...counts };
}

async function walkWorkspace(options: PushOptions, root: string): Promise<Tree> {
  const { files } = options.host;
  const landing = await Promise.all(options.landing.map(async (path) => (await files.realPath(path)) ?? path));
  const guard = options.limits === undefined ? null : createSizeGuard(options.limits);
  const tree = await walkTree({
    root,
    rules: { exclude: options.exclude, landing },
    files,
    onFolder(found) {
      throwIfAborted(options.signal);
      guard?.add(found);
    },
  });
  guard?.finish();
  const [special] = tree.specials;
  if (special === undefined) return tree;
  throw new TreeRefusal('SPECIAL_FILE', {
    path: special.path,
    message: `${special.path} is a ${special.kind} and cannot travel`,
    hint: `--exclude ${quoted(special.path)}`,
  });
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw signal.reason;
}

function checkLinks(tree: Tree, root: string): Tree['links'] {
  const links = keepInside(tree.links, root);
  if (links.kind === 'stay') return links.kept;
  const { path, target } = links;
  throw new TreeRefusal('LINK_ESCAPE', {
    path,
    message: `link ${path} → ${target} leaves the workspace`,
    hint: `--exclude ${quoted(path)}, and read ${target} on the node`,
  });
}

/** A path as an anchored pattern that a person can paste into a shell. */
function quoted(path: string): string {
  return /^[\w./@%+=:,-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/** Parts files whose content the cache knows and the store has from those that must be read. */
async function splitKnown(
  files: readonly Found[],
  find: (path: string, stat: Found['stat']) => BlobHash | null,
  store: BlobStore,
): Promise<{ known: readonly StoredEntry[]; unread: readonly Found[] }> {
  const hashes = files.map(({ path, stat }) => find(path, stat));
  const missing = new Set(await store.missing([...new Set(hashes.filter((hash) => hash !== null))]));
  const known: StoredEntry[] = [];
  const unread: Found[] = [];
  for (const [i, file] of files.entries()) {
    const hash = hashes[i] ?? null;
    const { path, stat } = file;
    if (hash === null || missing.has(hash)) unread.push(file);
    else known.push({ path, mode: stat.mode, sizeBytes: stat.sizeBytes, hash, stat });
  }
  return { known, unread };
}

function isUnreadable(error: unknown, root: string): error is HostError & { path: string } {
  if (!(error instanceof HostError) || error.path === null || !isWithin(error.path, root)) return false;
  return error.code === 'EACCES' || error.code === 'EPERM';
}

function unreadable(error: HostError & { path: string }, root: string): TreeRefusal {
  const path = error.path === root ? '.' : error.path.slice(root.length + 1);
  return new TreeRefusal('UNREADABLE', {
    path,
    message: `${path} may not be read by this user (${error.code})`,
    hint: `chmod u+rX ${quoted(path)}, or --exclude ${quoted(path)}`,
    cause: error,
  });
}
