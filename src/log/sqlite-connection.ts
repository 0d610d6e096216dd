import { DatabaseSync } from '@photostructure/sqlite';
import { HostError } from '../host/files.ts';
import { LogError } from './log-error.ts';

export type Row = Readonly<Record<string, unknown>>;
export type Value = string | number | null | Uint8Array;

type Statement = ReturnType<InstanceType<typeof DatabaseSync>['prepare']>;

/** One SQLite connection, its statements prepared once. Failures arrive as HostErrors; `EBUSY` means try again. */
export interface Connection {
  all(sql: string, ...values: Value[]): readonly Row[];
  get(sql: string, ...values: Value[]): Row | null;
  /** Returns how many rows changed. */
  run(sql: string, ...values: Value[]): number;
  /** Several statements without values. */
  script(sql: string): void;
  isInTransaction(): boolean;
  close(): void;
}

/** Below it, SQLite can corrupt a WAL that several connections write. */
const oldestSqlite = [3, 51, 3] as const;

/** Opens or creates the file. Nothing waits inside SQLite, which would stop this whole process: busy is an error at once. */
export function openConnection(path: string): Connection {
  const database = translate(path, () => new DatabaseSync(path, { timeout: 0 }));
  const statements = new Map<string, Statement>();
  const statement = (sql: string): Statement => {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    const prepared = database.prepare(sql);
    statements.set(sql, prepared);
    return prepared;
  };
  // The closures hold on to `database`: its statements alone do not keep it alive.
  return {
    all: (sql, ...values) => translate(path, () => statement(sql).all(...values) as readonly Row[]),
    get: (sql, ...values) => translate(path, () => (statement(sql).get(...values) as Row | undefined) ?? null),
    run: (sql, ...values) => translate(path, () => Number(statement(sql).run(...values).changes)),
    script: (sql) => translate(path, () => database.exec(sql)),
    isInTransaction: () => database.isTransaction,
    close: () => {
      statements.clear();
      translate(path, () => database.close());
    },
  };
}

export function isBusy(error: unknown): boolean {
  return error instanceof HostError && error.code === 'EBUSY';
}

/** Throws OLD_SQLITE unless the library is new enough. */
export function requireSqlite(connection: Connection): void {
  const version = String(connection.get('SELECT sqlite_version() AS version')?.version);
  if (isRecent(version)) return;
  throw new LogError(
    'OLD_SQLITE',
    `SQLite ${version} can damage a log that several processes write; expected ${oldestSqlite.join('.')} or newer. ` +
      'Reinstall runyard with its own dependencies',
  );
}

/** Compares a version such as 3.53.4 number by number. */
export function isRecent(version: string): boolean {
  const numbers = version.split('.').map(Number);
  for (const [index, oldest] of oldestSqlite.entries()) {
    const found = numbers[index] ?? 0;
    if (found !== oldest) return found > oldest;
  }
  return true;
}

/** SQLite's primary result codes, the system's code that says the same, and what to do. */
const failures: Readonly<Record<number, readonly [code: string, hint: string]>> = {
  5: ['EBUSY', 'another process has the lock; try again'],
  6: ['EBUSY', 'another process has the lock; try again'],
  8: ['EROFS', 'make the file and its directory writable'],
  10: ['EIO', 'check the disk'],
  11: ['EBADMSG', 'the file is damaged: restore it from a backup'],
  13: ['ENOSPC', 'nothing was written: free some space and try again'],
  14: ['ENOENT', 'check that its directory exists and can be written'],
  26: ['EBADMSG', 'the file is no log: move it away or name another home'],
};

function translate<T>(path: string, call: () => T): T {
  try {
    return call();
  } catch (error) {
    const failure = failures[primaryCode(error)];
    if (failure === undefined || !(error instanceof Error)) throw error;
    throw new HostError(failure[0], `${path}: ${error.message} (${failure[1]})`, path, error);
  }
}

function primaryCode(error: unknown): number {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return -1;
  return error.errcode & 0xff;
}
