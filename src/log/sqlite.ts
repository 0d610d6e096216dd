import { HostError } from '../host/files.ts';
import type { Host } from '../host/host.ts';
import { retryWhileBusy } from './busy.ts';
import { largestLogBytes } from './checkpoint.ts';
import { integer } from './columns.ts';
import { createDoorbell } from './doorbell.ts';
import { refuseEmptied } from './emptied.ts';
import type { FactLog, LoggedFact } from './fact-log.ts';
import { type Formats, plainFormats } from './formats.ts';
import { requireLocal } from './local-file-system.ts';
import { newHead } from './new-head.ts';
import { openLog } from './open-log.ts';
import type { LogHost } from './session.ts';
import { writeHead } from './sqlite-batches.ts';
import { type Connection, openConnection, requireSqlite } from './sqlite-connection.ts';
import { schemaSteps } from './sqlite-schema.ts';
import { createSqliteStore } from './sqlite-store.ts';

export type SqliteLogHost = LogHost & Pick<Host, 'files'>;

export interface SqliteLogOptions<Fact extends LoggedFact> {
  /** Absolute path of the database; its directory must exist. `doorbell` is kept beside it. */
  readonly path: string;
  readonly host: SqliteLogHost;
  /** This process's id: without it, a crash of this process would hold back the log's format for ever. */
  readonly pid: number;
  readonly formats?: Formats<Fact>;
  /** The file may not grow beyond this: from there on the log answers as on a full disk. */
  readonly maxSizeBytes?: number;
}

/**
 * Opens or creates a log in one SQLite file, which any number of local processes may do at once.
 * Refuses a network mount and an SQLite with the WAL bug. No caller may open the database's files by other means:
 * closing any descriptor of them drops this process's locks.
 */
export async function openSqliteLog<Fact extends LoggedFact>({
  path,
  host,
  pid,
  formats = plainFormats<Fact>(),
  maxSizeBytes,
}: SqliteLogOptions<Fact>): Promise<FactLog<Fact>> {
  const directory = path.slice(0, path.lastIndexOf('/')) || '/';
  if ((await host.files.stat(directory)) === null) {
    throw new HostError('ENOENT', `${directory}: no such directory; create it (mode 0700) first`, directory);
  }
  await requireLocal(host.files, directory);
  const doorbellPath = `${directory}/doorbell`;
  await refuseEmptied(path, doorbellPath, host);
  const connection = openConnection(path);
  try {
    await setUp(connection, { path, host, formats: formats.current });
    if (maxSizeBytes !== undefined) await retryWhileBusy(host, () => limitSize(connection, maxSizeBytes));
    const doorbell = await createDoorbell(host.files, doorbellPath);
    return await openLog(createSqliteStore(connection, { path, host, doorbell }), { host, formats, pid });
  } catch (error) {
    connection.close();
    throw error;
  }
}

async function setUp(
  connection: Connection,
  { path, host, formats }: { path: string; host: SqliteLogHost; formats: readonly number[] },
): Promise<void> {
  await makePrivate(path, host);
  await retryWhileBusy(host, () => requireSqlite(connection));
  await retryWhileBusy(host, () => connection.get('PRAGMA journal_mode = WAL'));
  await retryWhileBusy(host, () => connection.get(`PRAGMA journal_size_limit = ${largestLogBytes}`));
  const stepsHad = await retryWhileBusy(host, () => schemaVersion(connection));
  if (stepsHad >= schemaSteps.length) return;
  await retryWhileBusy(host, () => connection.run('BEGIN IMMEDIATE'));
  try {
    migrate(connection, { host, formats });
    connection.run('COMMIT');
  } catch (error) {
    if (connection.isInTransaction()) connection.run('ROLLBACK');
    throw error;
  }
}

/** SQLite creates its files as the umask says, and gives its companions the mode of the database. */
async function makePrivate(path: string, host: SqliteLogHost): Promise<void> {
  const stat = await host.files.stat(path);
  if (stat !== null && (stat.mode & 0o077) !== 0) await host.files.chmod(path, 0o600);
}

/** Under the lock, since another process may have been faster. */
function migrate(connection: Connection, { host, formats }: { host: LogHost; formats: readonly number[] }): void {
  const stepsHad = schemaVersion(connection);
  for (const step of schemaSteps.slice(stepsHad)) connection.script(step);
  if (stepsHad === 0) writeHead(connection, newHead(host, formats));
  if (stepsHad < schemaSteps.length) connection.script(`PRAGMA user_version = ${schemaSteps.length}`);
}

function schemaVersion(connection: Connection): number {
  const row = connection.get('PRAGMA user_version');
  return row === null ? 0 : integer(row, 'user_version');
}

function limitSize(connection: Connection, maxSizeBytes: number): void {
  const row = connection.get('PRAGMA page_size');
  const pageBytes = row === null ? 4096 : integer(row, 'page_size');
  connection.script(`PRAGMA max_page_count = ${Math.max(1, Math.floor(maxSizeBytes / pageBytes))}`);
}
