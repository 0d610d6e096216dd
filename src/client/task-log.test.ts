import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { Host } from '../host/host.ts';
import { createNodeHost } from '../host/node/node-host.ts';
import { createNodeProcesses } from '../host/node/processes.ts';
import { TaskLog } from './task-log.ts';

const root = mkdtempSync(join(tmpdir(), 'runyard-task-log-'));
const processes = createNodeProcesses({ directory: join(root, 'shim') });
afterAll(() => {
  processes.close();
  rmSync(root, { recursive: true, force: true });
});

it('reads a log whole that the agent puts aside in the middle of it [C10]', async () => {
  const [living, ended] = [join(root, 'attempts'), join(root, 'ended')];
  mkdirSync(living);
  writeFileSync(join(living, 'run.out'), 'epoch 1\n');
  writeFileSync(join(living, 'run.err'), 'warned\n');
  const host = createNodeHost(processes);
  const files = new Proxy(host.files, {
    get(real, name: keyof Host['files']) {
      const method: unknown = real[name];
      if (typeof method !== 'function') return method;
      return async (...args: unknown[]) => {
        const answer: unknown = await method.apply(real, args);
        if (name === 'readAt' && String(args[0]).endsWith('run.out') && existsSync(living)) renameSync(living, ended);
        return answer;
      };
    },
  });
  const log = new TaskLog(
    { ...host, files },
    {
      key: { job: 'digits-k3f9q2', index: 0, rank: 0, attempt: 1 },
      find: async () => [living, ended].find((place) => existsSync(place)) ?? null,
      options: {},
      listener: () => {},
      offsets: new Map(),
    },
  );
  const texts: string[] = [];
  for await (const { text } of log.readRest()) texts.push(text);
  expect(texts).toEqual(['epoch 1\n', 'warned\n']);
});
