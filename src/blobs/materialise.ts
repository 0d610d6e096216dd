import type { FileStat } from '../host/files.ts';
import { BlobFault } from './blob-fault.ts';
import type { BlobHash, BlobStore } from './blob-store.ts';
import type { Manifest, ManifestEntry } from './manifest.ts';
import { checkManifest } from './manifest-codec.ts';
import type { StorageHost } from './storage-host.ts';
import { packedBlobBytes } from './store-parts.ts';

/** What was written, so that collecting can tell what the job has written since. Plain data, to be kept as JSON. */
export interface Materialised {
  readonly files: readonly MaterialisedFile[];
  readonly directories: readonly string[];
}

export interface MaterialisedFile {
  readonly path: string;
  readonly hash: BlobHash;
  readonly sizeBytes: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly inode: number;
}

export interface MaterialiseOptions {
  readonly manifest: Manifest;
  readonly store: BlobStore;
  /** Absent, or empty. */
  readonly directory: string;
  readonly host: StorageHost;
  readonly onProgress?: (progress: { files: number; bytes: number }) => void;
  readonly signal?: AbortSignal;
}

type FileEntry = Extract<ManifestEntry, { kind: 'file' }>;

const batchFiles = 512;
const batchBytes = 16 * 1024 * 1024;

/**
 * Writes a tree, every byte verified. Throws BlobFault `BAD_MANIFEST` before anything is written, `MISSING_BLOB` when
 * the store lacks content, and the signal's reason when it aborts; what was written by then stays.
 */
export async function materialiseTree(options: MaterialiseOptions): Promise<Materialised> {
  checkManifest(options.manifest);
  return writeEntries(options, options.manifest.entries);
}

/** As `materialiseTree`, for entries whose manifest was checked already. */
export async function writeEntries(
  options: Omit<MaterialiseOptions, 'manifest'>,
  entries: readonly ManifestEntry[],
): Promise<Materialised> {
  const { host } = options;
  await host.files.makeDirectory(options.directory);
  const root = (await host.files.realPath(options.directory)) ?? options.directory;
  const directories = entries.filter((entry) => entry.kind === 'directory');
  for (const { path } of directories) await host.files.makeDirectory(`${root}/${path}`, { mode: 0o700 });
  const files = await writeFiles(
    options,
    root,
    entries.filter((entry) => entry.kind === 'file'),
  );
  // Links come last, so that no file is ever written through one, and folders' modes after what is in them.
  for (const entry of entries) {
    if (entry.kind === 'link') await host.files.symlink(entry.target, `${root}/${entry.path}`);
  }
  for (const { path, mode } of [...directories].reverse()) await host.files.chmod(`${root}/${path}`, mode | 0o700);
  return { files, directories: directories.map(({ path }) => path) };
}

async function writeFiles(
  options: Omit<MaterialiseOptions, 'manifest'>,
  root: string,
  files: readonly FileEntry[],
): Promise<readonly MaterialisedFile[]> {
  const written: MaterialisedFile[] = [];
  let bytes = 0;
  for (const batch of batches(files)) {
    if (options.signal?.aborted) throw options.signal.reason;
    written.push(...(await writeBatch(options, root, batch)));
    bytes += batch.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    options.onProgress?.({ files: written.length, bytes });
  }
  return written;
}

/** Small files go together; a large one is a batch of its own. */
function* batches(files: readonly FileEntry[]): Generator<readonly FileEntry[]> {
  let batch: FileEntry[] = [];
  let bytes = 0;
  for (const file of files) {
    if (file.sizeBytes > packedBlobBytes) {
      yield [file];
      continue;
    }
    batch.push(file);
    bytes += file.sizeBytes;
    if (batch.length < batchFiles && bytes < batchBytes) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}

async function writeBatch(
  { store, host }: Pick<MaterialiseOptions, 'store' | 'host'>,
  root: string,
  batch: readonly FileEntry[],
): Promise<readonly MaterialisedFile[]> {
  const [first] = batch;
  if (first !== undefined && first.sizeBytes > packedBlobBytes) {
    const path = `${root}/${first.path}`;
    if (!(await store.extract(first.hash, path, { mode: readable(first.mode) }))) throw missingContent(first);
    const stat = await host.files.lstat(path);
    return [record(first, stat)];
  }
  const contents = await store.getMany(batch.map(({ hash }) => hash));
  const stats = await host.files.writeMany(
    batch.map((entry) => {
      const bytes = contents.get(entry.hash);
      if (bytes === undefined) throw missingContent(entry);
      return { path: `${root}/${entry.path}`, bytes, mode: readable(entry.mode) };
    }),
  );
  return batch.map((entry, i) => record(entry, stats[i] ?? null));
}

/** The job runs as whoever writes this, and reads what it was sent. */
function readable(mode: number): number {
  return mode | 0o400;
}

function record({ path, hash, sizeBytes }: FileEntry, stat: FileStat | null): MaterialisedFile {
  // The content was verified, so another size means that the manifest lies.
  if (stat === null || stat.sizeBytes !== sizeBytes) {
    const found = stat === null ? 'nothing' : `${stat.sizeBytes} bytes`;
    throw new BlobFault(
      'BAD_MANIFEST',
      `${path}: the manifest says ${sizeBytes} bytes, blob ${hash} gave ${found}`,
      hash,
    );
  }
  return { path, hash, sizeBytes, mtimeMs: stat.mtimeMs, ctimeMs: stat.ctimeMs, inode: stat.inode };
}

function missingContent({ path, hash }: FileEntry): BlobFault {
  return new BlobFault(
    'MISSING_BLOB',
    `the content of ${path} (blob ${hash}) is not in the store; push it again`,
    hash,
  );
}
