import { statSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import { createCheckpointer } from './checkpoint.ts';
import { createTemporaryHost } from './node-host.testsuite.ts';
import { openConnection } from './sqlite-connection.ts';

const real = createTemporaryHost();
afterAll(real.remove);

it('cuts a write-ahead log that a reader let grow, once the reader has gone', () => {
  const path = `${real.directory}/log.db`;
  const writer = openConnection(path);
  writer.script(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 0; CREATE TABLE things (bytes BLOB)',
  );
  const reader = openConnection(path);
  reader.script('BEGIN');
  reader.all('SELECT * FROM things');
  const look = createCheckpointer(writer, { commitsBetweenLooks: 2, largestLogBytes: 6 * 1024 * 1024 });
  const grow = (): void => {
    writer.run('INSERT INTO things VALUES (zeroblob(3000000))');
    look();
  };
  for (let commits = 0; commits < 4; commits += 1) grow();
  const walBytes = (): number => statSync(`${path}-wal`).size;
  expect(walBytes()).toBeGreaterThan(12_000_000);
  reader.script('COMMIT');
  grow();
  grow();
  expect(walBytes()).toBe(0);
  reader.close();
  writer.close();
});
