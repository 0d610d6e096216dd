import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createNodeFiles } from '../host/node/files.ts';
import { createQuietLogs } from './quiet-logs.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'runyard-quiet-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Timers that fire when they are told to, and real files whose looks are counted. */
function createBeats() {
  const due = new Set<() => void>();
  const looks: Promise<unknown>[] = [];
  const files = createNodeFiles();
  const host = {
    files: {
      ...files,
      lstatMany: (paths: readonly string[]) => {
        const looked = files.lstatMany(paths);
        looks.push(looked);
        return looked;
      },
    },
    clock: { wallMs: () => 0, bootMs: () => 700, bootId: () => 'boot' },
    timers: {
      after: (_delayMs: number, callback: () => void) => {
        due.add(callback);
        return () => void due.delete(callback);
      },
    },
  };
  const beat = async (): Promise<void> => {
    for (const callback of [...due]) {
      due.delete(callback);
      callback();
    }
    await looks.at(-1);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { host, beat, planned: () => due.size, looks: () => looks.length };
}

it('looks at all quiet logs in one call, and wakes whoever has one that grew', async () => {
  const { host, beat, planned, looks } = createBeats();
  const quiet = createQuietLogs(host);
  const woken: string[] = [];
  const end = new AbortController();
  const wait = (name: string): Promise<void> =>
    quiet.untilGrown([{ path: join(folder, name), sizeBytes: 0 }], end.signal).then(() => void woken.push(name));
  const all = ['a', 'b', 'c'].map(wait);
  await beat();
  expect([woken, looks(), planned()]).toEqual([[], 1, 1]);
  appendFileSync(join(folder, 'b'), 'words');
  await beat();
  expect([woken, looks(), planned()]).toEqual([['b'], 2, 1]);
  end.abort();
  await Promise.all(all);
  // Nothing is planned for nobody: the program may end.
  expect([woken, planned()]).toEqual([['b', 'a', 'c'], 0]);
});

it('wakes at once whoever has ended before, and all when the look itself fails', async () => {
  const { host, beat } = createBeats();
  const ended = AbortSignal.abort();
  await createQuietLogs(host).untilGrown([{ path: join(folder, 'a'), sizeBytes: 0 }], ended);
  const failing = { ...host.files, lstatMany: () => Promise.reject(new Error('EIO')) };
  const quiet = createQuietLogs({ ...host, files: failing });
  const woken = quiet.untilGrown([{ path: join(folder, 'a'), sizeBytes: 0 }], new AbortController().signal);
  await beat();
  await woken;
});
