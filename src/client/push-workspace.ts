import { resolve } from 'node:path';
import type { BlobStore } from '../blobs/blob-store.ts';
import { pushTree } from '../blobs/push.ts';
import type { StorageHost } from '../blobs/storage-host.ts';
import type { JobSpec, WorkspaceRef } from '../core/job/spec.ts';
import type { PushOptions, PushProgress } from './api.ts';
import { withPushRefusals } from './tree-errors.ts';

/** From where and to where a workspace is pushed. */
export interface PushPlace {
  /** Where pushes remember what they read; never pushed itself. */
  readonly home: string;
  readonly host: StorageHost;
  readonly store: BlobStore;
}

/** Pushes what is missing of the workspace; null where the spec has none. */
export async function pushWorkspace(
  { home, host, store }: PushPlace,
  { workspace }: JobSpec,
  options: Partial<PushOptions>,
): Promise<WorkspaceRef | null> {
  if (workspace === null) return null;
  const base = options.baseDirectory ?? process.cwd();
  const landing = options.landing === undefined ? [] : [resolve(base, options.landing)];
  const pushed = await withPushRefusals(home, () =>
    pushTree({
      directory: resolve(base, workspace.workdir),
      exclude: workspace.exclude,
      landing: [...landing, home],
      store,
      statCachePath: `${home}/stat-cache`,
      host,
      ...(options.limitWorkspace === true ? { limits: { maxBytes: 1024 ** 3, maxFiles: 100_000 } } : {}),
      ...(options.onPush === undefined ? {} : { onProgress: (progress) => options.onPush?.(viewProgress(progress)) }),
    }),
  );
  options.onPush?.({
    phase: 'done',
    files: pushed.files,
    bytes: pushed.bytes,
    fraction: 1,
    sentBytes: pushed.sentBytes,
  });
  return { manifest: pushed.manifestHash, files: pushed.files, sizeBytes: pushed.bytes };
}

function viewProgress(progress: {
  files: number;
  bytes: number;
  totalFiles: number;
  totalBytes: number;
  sentBytes: number;
}): PushProgress {
  const fraction = progress.totalBytes === 0 ? 1 : progress.bytes / progress.totalBytes;
  return {
    phase: 'pushing',
    files: progress.totalFiles,
    bytes: progress.totalBytes,
    fraction,
    sentBytes: progress.sentBytes,
  };
}
