import type { Quota } from '../core/access/access.ts';
import type { Role } from '../core/access/principal.ts';
import type { ProjectView, TokenView, WhoView } from '../core/access/view.ts';
import type { UsageGroup, UsageQuery, UsageRow, UsageView } from '../core/usage/view.ts';

export type { ProjectView, Quota, Role, TokenView, UsageGroup, UsageQuery, UsageRow, UsageView, WhoView };

/** Work that is looked at together: who may see and change it, and how much of it there may be (X29). */
export interface Projects {
  /** Those that one may see, by name. */
  list(): Promise<readonly ProjectView[]>;
  get(name: string): Promise<ProjectView>;
  create(name: string, options?: { readonly quota?: Partial<Quota> }): Promise<void>;
  /** What is left out stays as it is; null lifts a limit, or lets in members alone. */
  change(name: string, changes: ProjectChanges): Promise<void>;
  /** Refused while it has services, or jobs that have not ended. */
  remove(name: string): Promise<void>;
  grant(name: string, user: string, role: Role): Promise<void>;
  revoke(name: string, user: string): Promise<void>;
}

export interface ProjectChanges {
  readonly quota?: Partial<Quota>;
  /** The role of every user who has no other in it. */
  readonly everyone?: Role | null;
}

/** What lets users and nodes in. Their secrets are shown once, when they are made. */
export interface Tokens {
  /** One's own; all of them for an administrator. */
  list(): Promise<readonly TokenView[]>;
  create(options?: TokenOptions): Promise<CreatedToken>;
  /** For one node to join with, once. */
  createJoin(options?: JoinTokenOptions): Promise<CreatedToken>;
  revoke(id: string): Promise<void>;
}

export interface TokenOptions {
  /** Default: whoever asks. */
  readonly user?: string;
  /** Default: it lasts until it is revoked. */
  readonly expiresMs?: number;
  /** Good for this project only. */
  readonly project?: string;
  /** May do everything. */
  readonly admin?: boolean;
}

export interface JoinTokenOptions {
  /** Default: an hour. */
  readonly expiresMs?: number;
  /** For this node only, which may be known already: its key is replaced. */
  readonly node?: string;
}

export interface CreatedToken {
  readonly id: string;
  /** Its only copy. */
  readonly token: string;
  readonly expiresAt: string | null;
}
