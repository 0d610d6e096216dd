import { HostError } from '../host/files.ts';
import { integer } from './columns.ts';
import type { Connection } from './sqlite-connection.ts';

export interface CheckpointLimits {
  readonly commitsBetweenLooks: number;
  readonly largestLogBytes: number;
}

/** SQLite keeps the write-ahead log near 4 MiB by itself unless readers stand in its way; above this much it is cut. */
export const largestLogBytes = 64 * 1024 * 1024;
const usualLimits: CheckpointLimits = { commitsBetweenLooks: 256, largestLogBytes };
const pageBytes = 4096;

/** To be called after each commit. Asks SQLite for the size, since nothing else may open its files. */
export function createCheckpointer(connection: Connection, limits: CheckpointLimits = usualLimits): () => void {
  let commits = 0;
  return () => {
    commits += 1;
    if (commits % limits.commitsBetweenLooks !== 0) return;
    try {
      truncateIfLarge(connection, limits.largestLogBytes);
    } catch (error) {
      // The commit before stands whatever becomes of this. A disk that is full or broken fails the next commit by itself.
      if (!(error instanceof HostError)) throw error;
    }
  };
}

function truncateIfLarge(connection: Connection, limitBytes: number): void {
  const row = connection.get('PRAGMA wal_checkpoint(NOOP)');
  if (row === null || integer(row, 'log') * pageBytes <= limitBytes) return;
  // When others read just now it does what it can, says so in its row, and is asked again later.
  connection.get('PRAGMA wal_checkpoint(TRUNCATE)');
}
