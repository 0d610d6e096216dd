import { stat } from 'node:fs/promises';
import { noWorkspace } from '../../blobs/no-workspace.ts';
import { RefusalError } from '../../client/refusal-error.ts';
import { refuse } from '../../core/refusal.ts';

/** Refuses a workspace that is not there, in the words of a push, where nothing is to be pushed. */
export async function checkWorkspace(directory: string): Promise<void> {
  const found = await stat(directory).catch(() => null);
  if (found?.isDirectory() === true) return;
  const { code, message, hint, path } = noWorkspace(directory);
  throw new RefusalError(refuse(code, message, { hint, path }));
}
