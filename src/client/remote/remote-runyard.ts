import type {
  EventFilter,
  EventView,
  Jobs,
  Nodes,
  Profiles,
  Projects,
  PruneReport,
  RunyardClient,
  Secrets,
  Services,
  Tokens,
  UsageQuery,
  UsageView,
  WhoView,
} from '../api.ts';
import { createHttp } from './http.ts';
import type { ServerAddress } from './outgoing.ts';
import { readStream } from './read-stream.ts';
import { createRemoteHost, type Remote } from './remote.ts';
import { createRemoteProjects, createRemoteTokens } from './remote-access.ts';
import { createRemoteBlobs } from './remote-blobs.ts';
import { createRemoteJobs } from './remote-jobs.ts';
import { createRemoteNodes } from './remote-nodes.ts';
import { createRemoteSecrets } from './remote-secrets.ts';
import { createRemoteServices } from './remote-services.ts';

export interface RemoteOptions {
  readonly address: ServerAddress;
  /** This user's own folder, absolute and there already. */
  readonly home: string;
  /** Told when the server cannot be reached for a while, and when it can be again. */
  readonly onNote?: (message: string) => void;
}

/** Runyard at a server: the same client as over a home, through HTTP. */
export class RemoteRunyard implements RunyardClient {
  readonly home: string;
  readonly server: string;
  readonly jobs: Jobs;
  readonly nodes: Nodes;
  readonly profiles: Profiles;
  readonly services: Services;
  readonly projects: Projects;
  readonly tokens: Tokens;
  readonly secrets: Secrets;
  readonly #remote: Remote;

  constructor({ address, home, onNote }: RemoteOptions) {
    const host = createRemoteHost();
    const http = createHttp(address, host, onNote === undefined ? {} : { onNote });
    const store = createRemoteBlobs(http, { host, temporary: `${home}/incoming` });
    const remote: Remote = { home, host, http, store };
    this.#remote = remote;
    this.home = home;
    this.server = address.url;
    this.jobs = createRemoteJobs(remote);
    this.nodes = createRemoteNodes(remote);
    this.profiles = createRemoteProfiles(remote);
    this.services = createRemoteServices(remote);
    this.projects = createRemoteProjects(remote);
    this.tokens = createRemoteTokens(remote);
    this.secrets = createRemoteSecrets(remote);
  }

  whoAmI(): Promise<WhoView> {
    return this.#remote.http.call('whoami', {});
  }

  usage(options: UsageQuery = {}): Promise<UsageView> {
    return this.#remote.http.call('usage', { query: options });
  }

  events(options: EventFilter = {}): AsyncIterable<EventView> {
    const { signal, follow = false, ...about } = options;
    return readStream(this.#remote.http, 'events', { query: { ...about, follow }, signal, endless: follow });
  }

  prune(options: { olderThanMs: number }): Promise<PruneReport> {
    return this.#remote.http.call('prune', { body: options });
  }

  close(): Promise<void> {
    this.#remote.http.close();
    return Promise.resolve();
  }
}

function createRemoteProfiles({ http }: Remote): Profiles {
  return {
    async list() {
      return (await http.call('listProfiles', {})).items;
    },
    apply: (document) => http.call('applyProfile', { body: { document } }),
  };
}
