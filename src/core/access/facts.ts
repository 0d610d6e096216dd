import type { JoinToken, Quota, UserToken } from './access.ts';
import type { RecordRefusal } from './command.ts';
import type { Role } from './principal.ts';

/** What can be true of projects, tokens and who was let in. */
export type AccessFact =
  | {
      readonly kind: 'ProjectCreated';
      readonly project: string;
      readonly quota: Quota;
      readonly everyone: Role | null;
      readonly by: string;
    }
  | {
      readonly kind: 'ProjectChanged';
      readonly project: string;
      readonly quota: Quota;
      readonly everyone: Role | null;
      readonly by: string;
    }
  | { readonly kind: 'ProjectRemoved'; readonly project: string; readonly by: string }
  | {
      readonly kind: 'RoleGranted';
      readonly project: string;
      readonly user: string;
      readonly role: Role;
      readonly by: string;
    }
  | { readonly kind: 'RoleRevoked'; readonly project: string; readonly user: string; readonly by: string }
  | {
      readonly kind: 'TokenCreated';
      readonly token: Omit<UserToken, 'by'> | Omit<JoinToken, 'by'>;
      readonly by: string;
    }
  | { readonly kind: 'TokenRevoked'; readonly token: string; readonly by: string }
  /** Its token let this node in, and is used up. */
  | { readonly kind: 'NodeAdmitted'; readonly node: string; readonly token: string; readonly keyHash: string }
  /** Refused attempts of somebody who is known, at most one fact a minute of each sort. */
  | ({ readonly kind: 'AccessRefused' } & Omit<RecordRefusal, 'kind'>);

/** Every kind of them. */
export const accessFactKinds = [
  'ProjectCreated',
  'ProjectChanged',
  'ProjectRemoved',
  'RoleGranted',
  'RoleRevoked',
  'TokenCreated',
  'TokenRevoked',
  'NodeAdmitted',
  'AccessRefused',
] as const satisfies readonly AccessFact['kind'][];

const kinds: ReadonlySet<string> = new Set(accessFactKinds);

export function isAccessFact(fact: { readonly kind: string }): fact is AccessFact {
  return kinds.has(fact.kind);
}
