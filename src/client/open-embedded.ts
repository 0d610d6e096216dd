import { type DirectoryStore, openDirectoryStore } from '../blobs/directory-store.ts';
import { ControlPlane } from '../control/control-plane.ts';
import type { Fact } from '../core/fact.ts';
import type { LeaseTimes } from '../core/node/lease-times.ts';
import type { Host } from '../host/host.ts';
import { createNodeHost } from '../host/node/node-host.ts';
import { createNodeProcesses } from '../host/node/processes.ts';
import { openSqliteLog } from '../log/sqlite.ts';
import type { Embedded } from './embedded.ts';
import { factFormats } from './fact-formats.ts';
import { prepareHome } from './home.ts';

export interface OpenOptions {
  /** Default: `RUNYARD_HOME`, else `~/.runyard`. */
  readonly home?: string;
  /** Told when the log can no longer be followed; by default the error is thrown where nobody catches it. */
  readonly onFault?: (error: unknown) => void;
  /** How long nodes that join over the network may be silent; tests shorten it. */
  readonly leaseTimes?: LeaseTimes;
}

/** A control plane in this process over the log of a home directory, acting for the user of the operating system. */
export interface OpenEmbedded {
  readonly embedded: Embedded;
  /** The same store as the client's, with what only one in a directory can do. */
  readonly store: DirectoryStore;
  close(): Promise<void>;
}

export async function openEmbedded(options: OpenOptions = {}): Promise<OpenEmbedded> {
  const home = await prepareHome(options.home);
  const processes = createNodeProcesses({ directory: `${home}/shim` });
  const host: Host = createNodeHost(processes);
  const log = await openSqliteLog<Fact>({ path: `${home}/log.db`, host, pid: process.pid, formats: factFormats });
  const onFault = options.onFault ?? raise;
  const plane = await ControlPlane.open(log, host, onFault, options.leaseTimes);
  const store = await openDirectoryStore({ directory: `${home}/blobs`, host });
  const actor = { kind: 'local', name: host.machine.user() } as const;
  return {
    store,
    embedded: { home, host, plane, store, actor, onFault },
    async close() {
      try {
        await plane.close();
      } finally {
        processes.close();
      }
    },
  };
}

/** A fault that nobody asked to be told of must not pass unseen. */
function raise(error: unknown): void {
  setImmediate(() => {
    throw error;
  });
}
