import { HostError } from '../host/files.ts';
import { integer } from './columns.ts';
import type { Connection } from './sqlite-connection.ts';

const commitsBetweenLooks = 256;
/** SQLite keeps the write-ahead log near 4 MiB by itself unless readers stand in its way; above this much it is cut. */
const largestLogBytes = 64 * 1024 * 1024;
const pageBytes = 4096;

/** To be called after each commit. Asks SQLite for the size, since nothing else may open its files. */
export function createCheckpointer(connection: Connection): () => void {
  let commits = 0;
  return () => {
    commits += 1;
    if (commits % commitsBetweenLooks !== 0) return;
    try {
      truncateIfLarge(connection);
    } catch (error) {
      // The commit before stands whatever becomes of this. A disk that is full or broken fails the next commit by itself.
      if (!(error instanceof HostError)) throw error;
    }
  };
}

function truncateIfLarge(connection: Connection): void {
  const row = connection.get('PRAGMA wal_checkpoint(NOOP)');
  if (row === null || integer(row, 'log') * pageBytes <= largestLogBytes) return;
  // When others read just now it does what it can, says so in its row, and is asked again later.
  connection.get('PRAGMA wal_checkpoint(TRUNCATE)');
}
