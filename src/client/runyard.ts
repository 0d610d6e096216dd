import { openDirectoryStore } from '../blobs/directory-store.ts';
import { ControlPlane } from '../control/control-plane.ts';
import type { Fact } from '../core/fact.ts';
import type { Host } from '../host/host.ts';
import { createNodeHost } from '../host/node/node-host.ts';
import { createNodeProcesses, type NodeProcesses } from '../host/node/processes.ts';
import { openSqliteLog } from '../log/sqlite.ts';
import type { EventView, Jobs, Nodes, Profiles, PruneReport, RunyardClient, Services } from './api.ts';
import type { Embedded } from './embedded.ts';
import { followEvents } from './events.ts';
import { factFormats } from './fact-formats.ts';
import { prepareHome } from './home.ts';
import { createJobs } from './jobs.ts';
import { createNodes } from './nodes.ts';
import { createProfiles } from './profiles.ts';
import { prune } from './prune.ts';
import { createServices } from './services.ts';

export interface OpenOptions {
  /** Default: `RUNYARD_HOME`, else `~/.runyard`. */
  readonly home?: string;
  /** Told when the log can no longer be followed; by default the error is thrown where nobody catches it. */
  readonly onFault?: (error: unknown) => void;
}

/** Runyard in this process: a control plane over the log of a home directory (G8). */
export class Runyard implements RunyardClient {
  readonly jobs: Jobs;
  readonly nodes: Nodes;
  readonly profiles: Profiles;
  readonly services: Services;
  readonly #embedded: Embedded;
  readonly #processes: NodeProcesses;

  private constructor(embedded: Embedded, processes: NodeProcesses) {
    this.#embedded = embedded;
    this.#processes = processes;
    this.jobs = createJobs(embedded);
    this.nodes = createNodes(embedded);
    this.profiles = createProfiles(embedded);
    this.services = createServices(embedded);
  }

  static async open(options: OpenOptions = {}): Promise<Runyard> {
    const home = await prepareHome(options.home);
    const processes = createNodeProcesses({ directory: `${home}/shim` });
    const host: Host = createNodeHost(processes);
    const log = await openSqliteLog<Fact>({ path: `${home}/log.db`, host, pid: process.pid, formats: factFormats });
    const onFault = options.onFault ?? raise;
    const plane = await ControlPlane.open(log, host, onFault);
    const store = await openDirectoryStore({ directory: `${home}/blobs`, host });
    const actor = { kind: 'local', name: host.machine.user() } as const;
    return new Runyard({ home, host, plane, store, actor, onFault }, processes);
  }

  get home(): string {
    return this.#embedded.home;
  }

  events(
    options: { job?: string; service?: string; follow?: boolean; signal?: AbortSignal } = {},
  ): AsyncIterable<EventView> {
    return followEvents(this.#embedded, options);
  }

  prune(options: { olderThanMs: number }): Promise<PruneReport> {
    return prune(this.#embedded, options);
  }

  async close(): Promise<void> {
    try {
      await this.#embedded.plane.close();
    } finally {
      this.#processes.close();
    }
  }
}

/** A fault that nobody asked to be told of must not pass unseen. */
function raise(error: unknown): void {
  setImmediate(() => {
    throw error;
  });
}
