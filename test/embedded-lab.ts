import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDirectoryStore } from '../src/blobs/directory-store.ts';
import type { Jobs, Nodes } from '../src/client/api.ts';
import type { Embedded } from '../src/client/embedded.ts';
import { createJobs } from '../src/client/jobs.ts';
import { createNodes } from '../src/client/nodes.ts';
import { ControlPlane } from '../src/control/control-plane.ts';
import type { Fact } from '../src/core/fact.ts';
import type { Host } from '../src/host/host.ts';
import { createNodeHost } from '../src/host/node/node-host.ts';
import { createNodeProcesses } from '../src/host/node/processes.ts';
import { openSqliteLog } from '../src/log/sqlite.ts';
import { markedPids, until } from './lab.ts';

/** Clients over one home in this process, each as a process of its own would be; a test may bend what their host says. */
export interface EmbeddedLab {
  readonly home: string;
  open(bend?: (host: Host) => Host): Promise<EmbeddedClient>;
  close(): Promise<void>;
}

export interface EmbeddedClient {
  readonly embedded: Embedded;
  readonly jobs: Jobs;
  readonly nodes: Nodes;
  close(): Promise<void>;
}

export function openEmbeddedLab(): EmbeddedLab {
  const home = mkdtempSync(join(tmpdir(), 'runyard-embedded-'));
  const opened: EmbeddedClient[] = [];
  return {
    home,
    async open(bend = (host) => host) {
      const processes = createNodeProcesses({ directory: `${home}/shim` });
      const host = bend(createNodeHost(processes));
      const log = await openSqliteLog<Fact>({ path: `${home}/log.db`, host, pid: process.pid });
      const plane = await ControlPlane.open(log, host, () => {});
      const store = await openDirectoryStore({ directory: `${home}/blobs`, host });
      const actor = { kind: 'local', name: host.machine.user() } as const;
      const embedded: Embedded = { home, host, plane, store, actor, onFault: () => {} };
      const client: EmbeddedClient = {
        embedded,
        jobs: createJobs(embedded),
        nodes: createNodes(embedded),
        close: async () => {
          await plane.close();
          processes.close();
        },
      };
      opened.push(client);
      return client;
    },
    async close() {
      for (const client of opened.splice(0)) await client.close();
      for (const pid of markedPids(home)) process.kill(pid, 'SIGKILL');
      await until(() => markedPids(home).length === 0, 'the end of the tasks');
      rmSync(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
