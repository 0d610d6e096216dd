import { appendFileSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { HostError } from '../../host/files.ts';
import { createNodeFiles } from '../../host/node/files.ts';
import { attemptOf } from '../attempt.ts';
import { firstState, openSupervisionJournal, type Supervision } from './journal.ts';

const files = createNodeFiles();
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'runyard-journal-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function stateOfRun(run: number): Supervision {
  return { ...firstState({ startup: null, liveness: null, readiness: null }), run };
}

function placeOf() {
  const attempt = { ...attemptOf('/node', 'n', { job: 'j', index: 0, rank: 0, attempt: 1 }), directory: folder };
  return { attempt, path: join(folder, 'run.supervision') };
}

it('gives the next agent what was written last, and grows no further than a limit [C7]', async () => {
  const { attempt, path } = placeOf();
  const journal = openSupervisionJournal(files, attempt);
  expect(await journal.read()).toBeNull();
  // Not waited for one by one: they go into the file in the order of the calls.
  await Promise.all(Array.from({ length: 500 }, (_, run) => journal.write(stateOfRun(run))));
  expect(await openSupervisionJournal(files, attempt).read()).toEqual(stateOfRun(499));
  expect(statSync(path).size).toBeLessThanOrEqual(64 * 1024);
  expect(readdirSync(folder)).toEqual(['run.supervision']);
});

it('keeps the state before when the agent died in the middle of a line', async () => {
  const { attempt, path } = placeOf();
  await openSupervisionJournal(files, attempt).write(stateOfRun(7));
  appendFileSync(path, '{"run":8,"history":{"resta');
  const next = openSupervisionJournal(files, attempt);
  expect(await next.read()).toEqual(stateOfRun(7));
  await next.write(stateOfRun(9));
  expect(await next.read()).toEqual(stateOfRun(9));
  writeFileSync(path, '\0\0\0');
  expect(await next.read()).toBeNull();
});

it('is written whole again after a write that failed', async () => {
  const { attempt } = placeOf();
  let isFull = false;
  const append: typeof files.append = async (path, bytes) => {
    if (!isFull) return files.append(path, bytes);
    await files.append(path, bytes.subarray(0, 20));
    throw new HostError('ENOSPC', 'no room', path);
  };
  const journal = openSupervisionJournal({ ...files, append }, attempt);
  for (const run of [1, 2]) await journal.write(stateOfRun(run));
  isFull = true;
  await expect(journal.write(stateOfRun(3))).rejects.toThrow('no room');
  expect(await journal.read()).toEqual(stateOfRun(2));
  isFull = false;
  for (const run of [4, 5]) await journal.write(stateOfRun(run));
  expect(await journal.read()).toEqual(stateOfRun(5));
});
