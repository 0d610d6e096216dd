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
} from './api.ts';
import { followEvents } from './events.ts';
import { createJobs } from './jobs.ts';
import { createNodes } from './nodes.ts';
import { type OpenEmbedded, type OpenOptions, openEmbedded } from './open-embedded.ts';
import { createProfiles } from './profiles.ts';
import { createProjects } from './projects.ts';
import { prune } from './prune.ts';
import type { ConnectOptions } from './remote/connect-options.ts';
import { createSecrets } from './secrets/secrets.ts';
import { createServices } from './services.ts';
import { createTokens } from './tokens.ts';
import { readUsage } from './usage.ts';
import { whoAmI } from './whoami.ts';

export type { OpenOptions } from './open-embedded.ts';

/** Runyard in this process: a control plane over the log of a home directory (G8). */
export class Runyard implements RunyardClient {
  readonly server = null;
  readonly jobs: Jobs;
  readonly nodes: Nodes;
  readonly profiles: Profiles;
  readonly services: Services;
  readonly projects: Projects;
  readonly tokens: Tokens;
  readonly secrets: Secrets;
  readonly #opened: OpenEmbedded;

  private constructor(opened: OpenEmbedded) {
    const { embedded } = opened;
    this.#opened = opened;
    this.jobs = createJobs(embedded);
    this.nodes = createNodes(embedded);
    this.profiles = createProfiles(embedded);
    this.services = createServices(embedded);
    this.projects = createProjects(embedded);
    this.tokens = createTokens(embedded);
    this.secrets = createSecrets(embedded);
  }

  static async open(options: OpenOptions = {}): Promise<Runyard> {
    return new Runyard(await openEmbedded(options));
  }

  /** The same at a server (`yard server start`), over HTTPS. */
  static async connect(options: ConnectOptions): Promise<RunyardClient> {
    const { connect } = await import('./remote/connect.ts');
    return connect(options);
  }

  get home(): string {
    return this.#opened.embedded.home;
  }

  events(options: EventFilter = {}): AsyncIterable<EventView> {
    return followEvents(this.#opened.embedded, options);
  }

  whoAmI(): Promise<WhoView> {
    return whoAmI(this.#opened.embedded);
  }

  usage(options: UsageQuery = {}): Promise<UsageView> {
    return readUsage(this.#opened.embedded, options);
  }

  prune(options: { olderThanMs: number }): Promise<PruneReport> {
    return prune(this.#opened.embedded, options);
  }

  close(): Promise<void> {
    return this.#opened.close();
  }
}
