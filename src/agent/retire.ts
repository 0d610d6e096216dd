import type { Host } from '../host/host.ts';
import { type Attempt, endedDirectory } from './attempt.ts';

/**
 * Puts an ended attempt aside: logs and records stay until they are pruned, the work directory goes.
 * Moved first, removed after: whatever happens in between, the next agent does not take it for alive.
 */
export async function retireAttempt(host: Host, nodeDirectory: string, attempt: Attempt): Promise<void> {
  const target = endedDirectory(nodeDirectory, attempt.name);
  if ((await host.files.lstat(attempt.directory)) === null) return;
  await host.files.remove(target);
  await host.files.rename(attempt.directory, target);
  await host.files.remove(`${target}/work`);
}

/** Removes work directories that an agent had no time to remove. */
export async function removeLeftWork(host: Host, nodeDirectory: string): Promise<void> {
  for (const entry of (await host.files.list(`${nodeDirectory}/ended`)) ?? []) {
    await host.files.remove(`${nodeDirectory}/ended/${entry.name}/work`);
  }
}
