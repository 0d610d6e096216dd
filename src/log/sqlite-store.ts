import { sleep } from '../host/clock.ts';
import { retryWhileBusy } from './busy.ts';
import { createCheckpointer } from './checkpoint.ts';
import { integer } from './columns.ts';
import { commit } from './commit.ts';
import type { Doorbell } from './doorbell.ts';
import { LogError } from './log-error.ts';
import { createQueue } from './queue.ts';
import type { LogHost } from './session.ts';
import type { Connection } from './sqlite-connection.ts';
import { createSqliteTables } from './sqlite-tables.ts';
import type { LogStore, Outcome } from './store.ts';
import type { LogTables } from './tables.ts';
import { createWatcher } from './watcher.ts';

/** Without this pause whoever has just committed takes the lock again before anybody else can. */
const pauseMs = 1;

/** The store on one connection. Transactions of this process queue here, those of others at the lock. */
export function createSqliteStore(
  connection: Connection,
  { path, host, doorbell }: { path: string; host: LogHost; doorbell: Doorbell },
): LogStore {
  const tables = createSqliteTables(connection);
  const enqueue = createQueue();
  const checkpoint = createCheckpointer(connection);
  const watcher = createWatcher(connection, { host, doorbell });
  let pause: Promise<void> = Promise.resolve();
  let closed = false;
  let flushes: boolean | null = null;

  const refuseWhenClosed = (): void => {
    if (closed) throw new LogError('CLOSED_LOG', `${path}: the log was closed; open it again`);
  };
  const write = async <T>(work: (tables: LogTables) => Outcome<T>, durable: boolean): Promise<T> => {
    await pause;
    await retryWhileBusy(host, () => {
      refuseWhenClosed();
      if (flushes !== durable) {
        // FULL flushes at each commit; NORMAL leaves that to the next one that is FULL.
        connection.run(durable ? 'PRAGMA synchronous = FULL' : 'PRAGMA synchronous = NORMAL');
        flushes = durable;
      }
      connection.run('BEGIN IMMEDIATE');
    });
    const outcome = workOrRollBack(connection, () => work(tables));
    if (!outcome.changed) return outcome.result;
    const isShared = hasOtherWriters(connection);
    await commit(host, connection, {
      isCommitted: outcome.isCommitted && (() => outcome.isCommitted?.(tables) ?? false),
    });
    // What need not last (a heartbeat, a registration) is rare and wakes nobody: their next look at the log is soon enough.
    if (isShared && durable) {
      pause = sleep(host.timers, pauseMs);
      doorbell.ring();
    }
    checkpoint();
    return outcome.result;
  };

  return {
    write: (work, { durable = true } = {}) => enqueue(() => write(work, durable)),
    read: (work) =>
      retryWhileBusy(host, () => {
        refuseWhenClosed();
        return work(tables);
      }),
    watch: (listener) => watcher.watch(listener),
    close: () =>
      enqueue(async () => {
        if (closed) return;
        closed = true;
        watcher.close();
        await doorbell.settled();
        connection.close();
      }),
  };
}

/** The work and what follows up to the commit are synchronous: the lock is never held across an await. */
function workOrRollBack<T>(connection: Connection, work: () => Outcome<T>): Outcome<T> {
  let changed = false;
  try {
    const outcome = work();
    ({ changed } = outcome);
    return outcome;
  } finally {
    if (!changed && connection.isInTransaction()) connection.run('ROLLBACK');
  }
}

function hasOtherWriters(connection: Connection): boolean {
  const row = connection.get('SELECT count(*) AS writers FROM writers');
  return row !== null && integer(row, 'writers') > 1;
}
