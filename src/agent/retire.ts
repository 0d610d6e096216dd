import { HostError } from '../host/files.ts';
import type { Host } from '../host/host.ts';
import { type Attempt, endedDirectory } from './attempt.ts';

/**
 * Puts an ended attempt aside: logs and records stay until they are pruned, the work directory goes.
 * Moved last: until then the next agent finds it among the living and does all of this again.
 */
export async function retireAttempt(host: Host, nodeDirectory: string, attempt: Attempt): Promise<void> {
  const { files } = host;
  const target = endedDirectory(nodeDirectory, attempt.name);
  if (!(await files.removeEmptyDirectory(attempt.workdir))) await files.remove(attempt.workdir);
  try {
    await files.rename(attempt.directory, target);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    // Put aside before, or half put aside by an agent that died in the middle.
    if (error.code === 'ENOENT') return;
    await files.remove(target);
    await files.rename(attempt.directory, target);
  }
}
