import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openDirectoryStore } from '../blobs/directory-store.ts';
import type { Host } from '../host/host.ts';
import { createNodeHost } from '../host/node/node-host.ts';
import { createNodeProcesses, type NodeProcesses } from '../host/node/processes.ts';
import { Agent } from './agent.ts';

let directory: string;
let processes: NodeProcesses;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'runyard-agent-'));
  processes = createNodeProcesses({ directory, launcher: 'sh' });
});
afterEach(() => {
  processes.close();
  rmSync(directory, { recursive: true });
});

/** What is being watched, by path; a failing disk fails every append. */
function watchedHost(watched: Set<string>, isFull: boolean): Host {
  const host = createNodeHost(processes);
  const { files } = host;
  return {
    ...host,
    files: {
      ...files,
      append: (path, bytes, options) =>
        isFull ? Promise.reject(new Error('no room')) : files.append(path, bytes, options),
      writeAtomic: (path, bytes, options) =>
        isFull ? Promise.reject(new Error('no room')) : files.writeAtomic(path, bytes, options),
      watch: (path, listener) => {
        const end = files.watch(path, listener);
        watched.add(path);
        return () => {
          watched.delete(path);
          end();
        };
      },
    },
  };
}

it.each([
  ['the control plane refuses it', false],
  ['its disk is full', true],
])('watches nothing any more when it cannot start because %s: its process could not end', async (_why, isFull) => {
  const watched = new Set<string>();
  const host = watchedHost(watched, isFull);
  const store = await openDirectoryStore({ directory: `${directory}/blobs`, host: createNodeHost(processes) });
  const refused = (): Promise<never> => Promise.reject(new Error('refused'));
  const channel = { join: refused, follow: () => () => {}, report: refused, leave: refused };
  const own = {
    directory: `${directory}/node`,
    node: 'n',
    instance: 'i',
    advertise: '',
    version: '0',
    environment: {},
  };
  const capacity = { cpus: 1, memoryMiB: 100, gpus: [], labels: {} };
  await expect(Agent.start({ host, channel, store, capacity, ...own, onFault: () => {} })).rejects.toThrow();
  expect([...watched]).toEqual([]);
});
