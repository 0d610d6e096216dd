import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { takeExclusiveLock } from './exclusive-lock.ts';
import { createTemporaryHost } from './node-host.testsuite.ts';

const real = createTemporaryHost();
afterAll(real.remove);

const holdLock = `
  const { DatabaseSync } = require('@photostructure/sqlite');
  globalThis.database = new DatabaseSync(process.argv[1]);
  database.exec('BEGIN EXCLUSIVE');
  console.log('held');
  setInterval(() => {}, 1000);
`;

describe('an exclusive lock', () => {
  it('has one holder, until it is released', async () => {
    const path = `${real.directory}/one.lock`;
    const first = await takeExclusiveLock(path, real.host);
    expect(first).not.toBeNull();
    expect(await takeExclusiveLock(path, real.host)).toBeNull();
    first?.release();
    const second = await takeExclusiveLock(path, real.host);
    expect(second).not.toBeNull();
    second?.release();
  });

  it('is free again the moment that its holder is killed', async () => {
    const path = `${real.directory}/killed.lock`;
    const cwd = fileURLToPath(new URL('../..', import.meta.url));
    const holder = spawn(process.execPath, ['-e', holdLock, path], { cwd });
    await once(holder.stdout, 'data');
    expect(await takeExclusiveLock(path, real.host)).toBeNull();
    holder.kill('SIGKILL');
    await once(holder, 'close');
    const lock = await takeExclusiveLock(path, real.host);
    expect(lock).not.toBeNull();
    lock?.release();
  });

  it('is taken by exactly one of several that try at once', async () => {
    const path = `${real.directory}/many.lock`;
    const locks = await Promise.all(Array.from({ length: 5 }, () => takeExclusiveLock(path, real.host)));
    const held = locks.filter((lock) => lock !== null);
    expect(held).toHaveLength(1);
    held[0]?.release();
  });
});
