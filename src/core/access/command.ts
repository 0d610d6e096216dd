import type { Quota } from './access.ts';
import type { Role } from './principal.ts';

/** What can be asked about projects, tokens and nodes' keys. Secrets are drawn and digested by whoever asks. */
export type AccessCommand =
  | { readonly kind: 'CreateProject'; readonly project: string; readonly quota: Partial<Quota>; readonly by: string }
  /** What is left out stays as it is. */
  | {
      readonly kind: 'ChangeProject';
      readonly project: string;
      readonly quota: Partial<Quota>;
      readonly everyone?: Role | null;
      readonly by: string;
    }
  | { readonly kind: 'RemoveProject'; readonly project: string; readonly by: string }
  | {
      readonly kind: 'GrantRole';
      readonly project: string;
      readonly user: string;
      readonly role: Role;
      readonly by: string;
    }
  | { readonly kind: 'RevokeRole'; readonly project: string; readonly user: string; readonly by: string }
  | CreateToken
  | CreateJoinToken
  | { readonly kind: 'RevokeToken'; readonly token: string; readonly by: string }
  | UseJoinToken
  | RecordRefusal;

export interface CreateToken {
  readonly kind: 'CreateToken';
  /** Fresh and random: a token that is known is refused. */
  readonly token: string;
  /** Lower-case hex SHA-256 of the secret. */
  readonly hash: string;
  readonly user: string;
  /** Null: until it is revoked. */
  readonly lifetimeMs: number | null;
  readonly project: string | null;
  readonly admin: boolean;
  readonly by: string;
}

export interface CreateJoinToken {
  readonly kind: 'CreateJoinToken';
  readonly token: string;
  readonly hash: string;
  readonly lifetimeMs: number;
  readonly node: string | null;
  readonly by: string;
}

/** A node is let in by a token that is used up by it. Whoever sends this has checked the token's secret. */
export interface UseJoinToken {
  readonly kind: 'UseJoinToken';
  readonly token: string;
  readonly node: string;
  /** Lower-case hex SHA-256 of the key that the agent drew. */
  readonly keyHash: string;
}

/** Something was refused to somebody who is known: noted for the audit (R4.27). */
export interface RecordRefusal {
  readonly kind: 'RecordRefusal';
  /** `user ada`, `node n1`, `token 3k9x…`. */
  readonly who: string;
  readonly action: string;
  readonly subject: string | null;
  readonly code: 'FORBIDDEN' | 'NOT_ASSIGNED' | 'UNAUTHORIZED';
  /** How often, since it was last noted. */
  readonly times: number;
}
