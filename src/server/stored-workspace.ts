import { BlobFault } from '../blobs/blob-fault.ts';
import type { Manifest } from '../blobs/manifest.ts';
import { decodeManifest } from '../blobs/manifest-codec.ts';
import type { Embedded } from '../client/embedded.ts';
import type { JobSpec, WorkspaceRef } from '../core/job/spec.ts';
import { refused } from './http-refusal.ts';

/**
 * The workspace that a client has pushed before: all of it is stored, and the log is told so. Nothing is ever taken
 * from the server's own disk, whatever directory a submission names.
 */
export async function storedWorkspace(
  { store, plane }: Embedded,
  { workspace }: JobSpec,
  given: WorkspaceRef | null,
): Promise<WorkspaceRef | null> {
  if (given === null) {
    if (workspace === null) return null;
    throw refused('NO_WORKSPACE', 'the submission declares a workspace, and none was pushed with it', {
      path: 'body.workspace',
      hint: 'push its blobs and its manifest first, and name the manifest',
    });
  }
  const bytes = await store.get(given.manifest);
  if (bytes === null) throw missing('the manifest of the workspace is not stored');
  const { entries } = readManifest(bytes);
  const files = entries.flatMap((entry) => (entry.kind === 'file' ? [entry] : []));
  const absent = await store.missing([...new Set(files.map(({ hash }) => hash))]);
  if (absent.length > 0) throw missing(`${absent.length} of the workspace's contents are not stored`);
  await plane.log.recordBlobs([given.manifest]);
  const sizeBytes = files.reduce((sum, file) => sum + file.sizeBytes, 0);
  return { manifest: given.manifest, files: files.length, sizeBytes };
}

function missing(message: string): Error {
  return refused('MISSING_BLOBS', message, { path: 'body.workspace', hint: 'push them and submit again' });
}

function readManifest(bytes: Uint8Array): Manifest {
  try {
    return decodeManifest(bytes);
  } catch (error) {
    if (!(error instanceof BlobFault)) throw error;
    throw refused('BAD_VALUE', error.message, { path: 'body.workspace.manifest' });
  }
}
