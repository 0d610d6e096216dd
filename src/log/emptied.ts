import { sleep } from '../host/clock.ts';
import type { Host } from '../host/host.ts';
import { LogError } from './log-error.ts';

/** Between its creation and its first page a new log is empty; nobody needs this long for that. */
const patienceMs = 500;
const lookMs = 20;

/**
 * Refuses a log that lost all its bytes, which SQLite would take for a new one. The doorbell is made once a log has its
 * tables: an empty file beside it has had content. No file at all is a new log, by the wish of whoever removed it.
 */
export async function refuseEmptied(
  path: string,
  doorbellPath: string,
  { files, clock, timers }: Pick<Host, 'files' | 'clock' | 'timers'>,
): Promise<void> {
  const isEmptied = async (): Promise<boolean> =>
    (await files.stat(path))?.sizeBytes === 0 && (await files.stat(doorbellPath)) !== null;
  const sinceMs = clock.bootMs();
  while (await isEmptied()) {
    if (clock.bootMs() - sinceMs >= patienceMs) {
      throw new LogError(
        'EMPTIED_LOG',
        `${path} has 0 bytes, and it was in use before: every job and service in it is lost. ` +
          'Restore it from a backup; or, to begin anew, remove the empty file',
      );
    }
    await sleep(timers, lookMs);
  }
}
