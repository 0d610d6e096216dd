import { type BusyHost, retryWhileBusy } from './busy.ts';
import type { Connection } from './sqlite-connection.ts';

/**
 * Commits. When that fails, the transaction is taken back, unless it turns out to be in the log after all: then the
 * commit has happened and only its answer was lost. `isCommitted` looks; without it a failed commit counts as failed.
 */
export async function commit(
  host: BusyHost,
  connection: Pick<Connection, 'run' | 'isInTransaction'>,
  { isCommitted }: { isCommitted: (() => boolean) | undefined },
): Promise<void> {
  try {
    connection.run('COMMIT');
  } catch (error) {
    if (connection.isInTransaction()) connection.run('ROLLBACK');
    if (isCommitted === undefined || !(await retryWhileBusy(host, isCommitted))) throw error;
  }
}
