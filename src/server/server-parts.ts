import type { Logger } from 'pino';
import type { Embedded } from '../client/embedded.ts';
import type { AllowedHosts } from './allowed-hosts.ts';
import type { GuessLimits } from './guess-limits.ts';
import type { ServerMetrics } from './metrics.ts';
import type { RequestNotes } from './request-notes.ts';
import type { ServerSettings } from './settings.ts';

/** What all of a running server works with. */
export interface ServerParts {
  readonly settings: ServerSettings;
  /** Acts for the server itself; every request gets its own, which acts for whoever asks. */
  readonly embedded: Embedded;
  /** One JSON line each; never a token, a body or a secret. */
  readonly log: Logger;
  readonly metrics: ServerMetrics;
  readonly guesses: GuessLimits;
  readonly notes: RequestNotes;
  readonly hosts: AllowedHosts;
  /** Aborts when the server stops: streams end, so that their clients resume elsewhere. */
  readonly stopping: AbortSignal;
}
