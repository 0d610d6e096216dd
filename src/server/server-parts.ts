import type { Logger } from 'pino';
import type { DirectoryStore } from '../blobs/directory-store.ts';
import type { Embedded } from '../client/embedded.ts';
import type { AgentHub } from './agents/agent-hub.ts';
import type { LogStore } from './agents/log-store.ts';
import type { AllowedHosts } from './allowed-hosts.ts';
import type { GuessLimits } from './guess-limits.ts';
import type { ServerMetrics } from './metrics.ts';
import type { IdentityVerifier } from './oidc.ts';
import type { RecentAnswers } from './recent-answers.ts';
import type { RequestNotes } from './request-notes.ts';
import type { ServerSettings } from './settings.ts';

/** What all of a running server works with. */
export interface ServerParts {
  readonly settings: ServerSettings;
  /** Acts for the server itself; every request gets its own, which acts for whoever asks. */
  readonly embedded: Embedded;
  readonly store: DirectoryStore;
  /** The fingerprint of the certificate where the server has made it itself: what to trust is said with each token. */
  readonly pin: string | null;
  /** One JSON line each; never a token, a body or a secret. */
  readonly log: Logger;
  readonly metrics: ServerMetrics;
  readonly guesses: GuessLimits;
  readonly recent: RecentAnswers;
  readonly notes: RequestNotes;
  readonly hosts: AllowedHosts;
  /** Null where people sign in with tokens only. */
  readonly identities: IdentityVerifier | null;
  /** Agents that are connected. */
  readonly agents: AgentHub;
  /** What attempts on their nodes printed. */
  readonly logs: LogStore;
  /** Aborts when the server stops: streams end, so that their clients resume elsewhere. */
  readonly stopping: AbortSignal;
}
