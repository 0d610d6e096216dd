import { BlobFault } from '../../blobs/blob-fault.ts';
import { decodeManifest } from '../../blobs/manifest-codec.ts';
import { materialiseTree } from '../../blobs/materialise.ts';
import { countBeginning } from '../attempt.ts';
import { materialisedPath } from '../materialised.ts';
import type { StepWork } from '../task-context.ts';

/** Writes the pushed workspace into the work directory, once; a half-written one of an earlier agent is begun anew. */
export const materialise: StepWork = async ({ host, store, attempt, order, signal, isFresh }) => {
  const { workspace } = order.task;
  if (workspace === null) return { kind: 'WorkspaceMaterialized' };
  const recordPath = materialisedPath(attempt);
  if (!isFresh && (await host.files.stat(recordPath)) !== null) return { kind: 'WorkspaceMaterialized' };
  if (!isFresh && !(await countBeginning(host.files, attempt, 'materialize'))) {
    return { kind: 'NodeFault', message: 'writing the workspace ended the agent again and again', held: false };
  }
  const bytes = await store.get(workspace.manifest);
  if (bytes === null) return { kind: 'NodeFault', message: 'the workspace is not in the blob store', held: false };
  try {
    if (!isFresh) await host.files.remove(attempt.workdir);
    const written = await materialiseTree({
      manifest: decodeManifest(bytes),
      store,
      directory: attempt.workdir,
      host,
      signal,
    });
    await host.files.writeAtomic(recordPath, new TextEncoder().encode(JSON.stringify(written)), { mode: 0o600 });
    return { kind: 'WorkspaceMaterialized' };
  } catch (error) {
    if (signal.aborted) return null;
    if (!(error instanceof BlobFault)) throw error;
    return { kind: 'NodeFault', message: `the workspace could not be written: ${error.message}`, held: false };
  }
};
