import { mkdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { describeFactLog } from './contract.testsuite.ts';
import { add, testClock } from './contract-store.testsuite.ts';
import type { FactLog } from './fact-log.ts';
import { createTemporaryHost } from './node-host.testsuite.ts';
import { type Noted, noted } from './noted.testsuite.ts';
import { openSqliteLog, type SqliteLogOptions } from './sqlite.ts';
import { openConnection } from './sqlite-connection.ts';

const real = createTemporaryHost();
afterAll(real.remove);

let made = 0;
function newPath(): string {
  made += 1;
  const directory = `${real.directory}/${made}`;
  mkdirSync(directory);
  return `${directory}/log.db`;
}

function open(path: string, options: Partial<SqliteLogOptions<Noted>> = {}): Promise<FactLog<Noted>> {
  return openSqliteLog<Noted>({ path, host: real.host, pid: process.pid, ...options });
}

describeFactLog('SQLite', async () => {
  const clock = { wallMs: 1_700_000_000_000, bootMs: 1_000, bootId: real.host.clock.bootId() };
  const host = { ...real.host, clock: testClock(clock) };
  const path = newPath();
  const logs: FactLog<Noted>[] = [];
  return {
    clock,
    open: async (formats) => {
      const log = await open(path, { host, ...(formats === undefined ? {} : { formats }) });
      logs.push(log);
      return log;
    },
    damageSnapshot: (seq) => {
      const connection = openConnection(path);
      connection.run("UPDATE snapshot_parts SET bytes = CAST(bytes || x'00' AS BLOB) WHERE seq = ?", seq);
      connection.close();
    },
    dispose: async () => {
      for (const log of logs) await log.close();
    },
  };
});

describe('a log in a SQLite file', () => {
  it('is refused when its file was emptied, and begins anew when it was removed', async () => {
    const path = newPath();
    const log = await open(path);
    await add(log, [noted('first', 1)]);
    await log.close();
    truncateSync(path, 0);
    await expect(open(path)).rejects.toMatchObject({ code: 'EMPTIED_LOG', message: expect.stringContaining(path) });
    expect(statSync(path).size).toBe(0);
    rmSync(path);
    const anew = await open(path);
    expect(await anew.readAfter(0)).toEqual([]);
    await anew.close();
  });

  it('begins where another process made its file and died before it wrote to it', async () => {
    const path = newPath();
    writeFileSync(path, '');
    await (await open(path)).close();
  });

  it('answers ENOSPC on a full disk, applies nothing, and goes on once there is room [R4.44]', async () => {
    const path = newPath();
    const roomy = await open(path);
    await add(roomy, [noted('first', 1)]);
    const full = await open(path, { maxSizeBytes: 300_000 });
    const big = Array.from({ length: 2_000 }, (_, count) => noted('x'.repeat(500), count));
    const write = full.append({ afterSeq: 1 }, () => ({
      facts: big,
      answers: [{ key: 'k', bodyHash: 'h', answer: 1 }],
    }));
    await expect(write).rejects.toMatchObject({ code: 'ENOSPC' });
    await roomy.append({ afterSeq: 1, keys: ['k'] }, (view) => {
      expect([view.tail.length, view.answers.size]).toEqual([0, 0]);
      return null;
    });
    expect(await add(full, [noted('small', 2)])).toMatchObject({ seq: 2 });
    const { appended } = await roomy.append({ afterSeq: 2 }, () => ({ facts: big }));
    expect(appended?.facts).toHaveLength(2_000);
    await full.close();
    await roomy.close();
  });

  it('keeps its file to its owner [R4.26] and its content from one opening to the next', async () => {
    const path = newPath();
    const before = await open(path);
    const batch = await add(before, [noted('a', 1)]);
    await before.close();
    await before.close();
    await expect(before.readAfter(0)).rejects.toMatchObject({ code: 'CLOSED_LOG' });
    const after = await open(path);
    expect(after.incarnation).toBe(before.incarnation);
    expect(await after.readAfter(0)).toEqual([batch]);
    expect((await real.host.files.stat(path))?.mode).toBe(0o600);
    await after.close();
  });

  it('says what is wrong with a directory that is missing and with a file that is no log', async () => {
    await expect(open(`${real.directory}/absent/log.db`)).rejects.toMatchObject({ code: 'ENOENT' });
    const path = newPath();
    await real.host.files.write(path, new TextEncoder().encode('not a database'.repeat(100)));
    await expect(open(path)).rejects.toThrow('the file is no log');
  });

  it('refuses a batch that was changed in the file [I1]', async () => {
    const path = newPath();
    const log = await open(path);
    await add(log, [noted('a', 1)]);
    const connection = openConnection(path);
    connection.run("UPDATE batches SET facts = replace(facts, '1', '2')");
    connection.close();
    await expect(log.readAfter(0)).rejects.toThrow('its content does not match its hash');
    await log.close();
  });

  it('refuses to go on in a log that was restored under it [I2]', async () => {
    const path = newPath();
    const log = await open(path);
    const connection = openConnection(path);
    connection.run("UPDATE head SET incarnation = 'restored'");
    connection.close();
    await expect(log.append({ afterSeq: 0 }, () => ({ facts: [noted('a', 1)] }))).rejects.toThrow(
      'the log was restored meanwhile',
    );
    await log.close();
  });

  it('notices a commit within its next look when the doorbell is never heard', async () => {
    const path = newPath();
    const deaf = { ...real.host, files: { ...real.host.files, watch: () => () => undefined } };
    const [writer, reader] = [await open(path), await open(path, { host: deaf })];
    const woken = new Promise<void>((resolve) => {
      reader.watch(resolve);
    });
    await add(writer, [noted('a', 1)]);
    await woken;
    expect(await reader.readAfter(0)).toHaveLength(1);
    await reader.close();
    await writer.close();
  });

  it('waits for a lock that another connection holds, and leaves the process to its other work', async () => {
    const path = newPath();
    const log = await open(path);
    const holder = openConnection(path);
    holder.run('BEGIN IMMEDIATE');
    const appended = add(log, [noted('a', 1)]);
    let isDone = false;
    void appended.then(() => {
      isDone = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(isDone).toBe(false);
    holder.run('ROLLBACK');
    holder.close();
    expect(await appended).toMatchObject({ seq: 1 });
    await log.close();
  });
});
