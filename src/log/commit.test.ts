import { describe, expect, it } from 'vitest';
import { commit } from './commit.ts';
import { isRecent } from './sqlite-connection.ts';

const host = {
  clock: { wallMs: () => 0, bootMs: () => 0, bootId: () => 'b' },
  timers: { after: () => () => undefined },
  chance: { bytes: (length: number) => new Uint8Array(length), fraction: () => 0 },
};

/** A connection whose COMMIT fails, and notes what it is told. */
function failing(isInTransaction: boolean): { said: string[]; run(sql: string): number; isInTransaction(): boolean } {
  const said: string[] = [];
  return {
    said,
    isInTransaction: () => isInTransaction,
    run: (sql) => {
      said.push(sql);
      if (sql === 'COMMIT') throw new Error('lost');
      return 0;
    },
  };
}

describe('a commit whose outcome is unknown', () => {
  it('counts as done when its batch is in the log', async () => {
    const connection = failing(false);
    await commit(host, connection, { isCommitted: () => true });
    expect(connection.said).toEqual(['COMMIT']);
  });

  it('counts as failed when it is not, and is taken back', async () => {
    const connection = failing(true);
    await expect(commit(host, connection, { isCommitted: () => false })).rejects.toThrow('lost');
    expect(connection.said).toEqual(['COMMIT', 'ROLLBACK']);
  });
});

describe('the version of SQLite', () => {
  it('is compared number by number with the first that has no WAL bug', () => {
    expect(['3.51.3', '3.51.10', '3.53.4', '4.0.0'].map(isRecent)).toEqual([true, true, true, true]);
    expect(['3.51.2', '3.9.9', '3.51', '2.99.99', 'odd'].map(isRecent)).toEqual([false, false, false, false, false]);
  });
});
