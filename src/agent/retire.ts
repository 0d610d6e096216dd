import type { Host } from '../host/host.ts';
import { type Attempt, endedDirectory } from './attempt.ts';

/**
 * Puts an ended attempt aside: logs and records stay until they are pruned, the work directory goes.
 * Moved last: until then the next agent finds it among the living and does all of this again.
 */
export async function retireAttempt(host: Host, nodeDirectory: string, attempt: Attempt): Promise<void> {
  if ((await host.files.lstat(attempt.directory)) === null) return;
  await host.files.remove(attempt.workdir);
  const target = endedDirectory(nodeDirectory, attempt.name);
  await host.files.remove(target);
  await host.files.rename(attempt.directory, target);
}
