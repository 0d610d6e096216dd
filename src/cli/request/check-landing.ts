import { access, constants, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { RefusalError } from '../../client/refusal-error.ts';
import { refuse } from '../../core/refusal.ts';

/**
 * Refuses, before a job runs for hours, a place where its outputs could not land: a file, or a folder, there or to be
 * made, that the user may not write to. `landing` is absolute.
 */
export async function checkLanding(landing: string): Promise<void> {
  const hint = 'land elsewhere with --to DIR';
  for (let path = landing; ; path = dirname(path)) {
    const found = await stat(path).catch(() => null);
    if (found === null && path !== dirname(path)) continue;
    if (found !== null && !found.isDirectory()) {
      throw new RefusalError(
        refuse('LANDING_CONFLICT', `outputs cannot land in ${landing}: ${path} is a file`, { hint }),
      );
    }
    await access(path, constants.W_OK | constants.X_OK).catch(() => {
      throw new RefusalError(
        refuse('LANDING_FAILED', `outputs cannot land in ${landing}: you may not write to ${path}`, { hint }),
      );
    });
    return;
  }
}
