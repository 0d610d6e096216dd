import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { FactLog } from './fact-log.ts';
import type { WriterReport } from './hot-writer.testsuite.ts';
import { createTemporaryHost } from './node-host.testsuite.ts';
import { type Noted, noted } from './noted.testsuite.ts';
import { openSqliteLog } from './sqlite.ts';
import { openConnection } from './sqlite-connection.ts';

const real = createTemporaryHost();
const program = `${real.directory}/hot-writer.mjs`;
afterAll(real.remove);

beforeAll(async () => {
  symlinkSync(fileURLToPath(new URL('../../node_modules', import.meta.url)), `${real.directory}/node_modules`);
  await build({
    entryPoints: [fileURLToPath(new URL('./hot-writer.testsuite.ts', import.meta.url))],
    ...{ bundle: true, platform: 'node', format: 'esm', outfile: program, logLevel: 'error' },
    external: ['@photostructure/sqlite'],
  });
});

it('lets eight processes append to one file at once: nothing is lost, nobody sees a lock error, and none waits unfairly [I1]', async () => {
  const path = `${real.directory}/log.db`;
  const writers = Array.from({ length: 8 }, (_, index) =>
    startWriter(path, { name: `w${index}`, forMs: 1_500, untilSeq: 250 }),
  );
  for (const writer of writers) await writer.said();
  for (const writer of writers) writer.child.stdin.end('go\n');
  const reports = await Promise.all(writers.map((writer) => writer.report()));

  const log = await openSqliteLog<Noted>({ path, host: real.host, pid: process.pid });
  const facts = (await log.readAfter(0)).flatMap((batch) => batch.facts);
  await log.close();
  for (const { name, commits } of reports) {
    const own = facts.filter((fact) => fact.by === name);
    expect(own).toEqual(Array.from({ length: commits }, (_, count) => noted(name, count)));
  }
  const commits = reports.map((report) => report.commits).toSorted((a, b) => a - b);
  console.log(
    `commits ${commits.join(' ')}, worst wait ${Math.max(...reports.map((report) => report.worstWaitMs))} ms`,
  );
  expect(facts).toHaveLength(commits.reduce((sum, count) => sum + count, 0));
  expect(commits[0]).toBeGreaterThan((commits[7] ?? 0) / 3);
});

it('goes on when a process that appends is killed at any moment: what it was told is there, its commits are whole and its registration ends [I1] [I2]', async () => {
  const path = `${real.directory}/killed.db`;
  const log = await openSqliteLog<Noted>({ path, host: real.host, pid: process.pid });
  for (const untilSeq of [7, 20]) {
    const name = `until ${untilSeq}`;
    const writer = startWriter(path, { name, forMs: 60_000, untilSeq, tells: true });
    await writer.said();
    writer.child.stdin.end('go\n');
    await reaches(log, untilSeq);
    writer.child.kill('SIGKILL');
    await once(writer.child, 'close');
    const acknowledged = [...writer.output().matchAll(/acknowledged (\d+)\n/g)].length;
    const kept = (await log.readAfter(0)).flatMap(({ facts }) => facts).filter((fact) => fact.by === name);
    expect(acknowledged).toBeGreaterThan(0);
    // One more may have been committed whose answer the writer did not live to hear.
    expect([acknowledged, acknowledged + 1]).toContain(kept.length);
    expect(kept).toEqual(kept.map((_, count) => noted(name, count)));
  }
  const batches = await log.readAfter(0);
  const { appended } = await log.append({ afterSeq: batches.length }, () => ({ facts: [noted('survivor', 1)] }));
  expect(appended?.seq).toBe(batches.length + 1);
  await log.close();
  await (await openSqliteLog<Noted>({ path, host: real.host, pid: process.pid })).close();
  const connection = openConnection(path);
  expect(connection.all('SELECT * FROM writers')).toEqual([]);
  connection.close();
});

/** Resolves once the log has that many facts. */
function reaches(log: FactLog<Noted>, seq: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const look = (): void => {
      log.readAfter(0).then((batches) => {
        if (batches.length < seq) return;
        end();
        resolve();
      }, reject);
    };
    const end = log.watch(look);
    look();
  });
}

function startWriter(
  path: string,
  { name, forMs, untilSeq, tells = false }: { name: string; forMs: number; untilSeq: number; tells?: boolean },
): {
  child: ChildProcessWithoutNullStreams;
  output(): string;
  said(): Promise<void>;
  report(): Promise<WriterReport>;
} {
  const args = [program, path, name, String(forMs), String(untilSeq), ...(tells ? ['tells'] : [])];
  const child = spawn(process.execPath, args);
  let output = '';
  let errors = '';
  child.stderr.on('data', (bytes: Buffer) => {
    errors += bytes.toString();
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const heard = (text: string): Promise<void> =>
    new Promise((resolve) => {
      child.stdout.on('data', (bytes: Buffer) => {
        output += bytes.toString();
        if (output.includes(text)) resolve();
      });
    });
  const ready = heard('ready');
  return {
    child,
    output: () => output,
    said: () =>
      Promise.race([ready, ended.then(() => Promise.reject(new Error(`writer ${name} ended early: ${errors}`)))]),
    report: async () => {
      await ended;
      if (errors !== '' || child.exitCode !== 0) throw new Error(`writer ${name} exited ${child.exitCode}: ${errors}`);
      return JSON.parse(output.slice(output.indexOf('{'))) as WriterReport;
    },
  };
}
