import type { Token } from '../core/access/access.ts';
import { isOver } from '../core/access/authorize.ts';
import type { NodePrincipal, UserPrincipal } from '../core/access/principal.ts';
import { type Refusal, refuse } from '../core/refusal.ts';
import type { State } from '../core/state.ts';
import type { Digests } from '../host/bytes.ts';
import type { Chance } from '../host/chance.ts';
import { toHex } from '../host/hex.ts';

/** `yt_<id>_<secret>` lets a user in, `yj_<id>_<secret>` a node join: 256 bits of chance, shown once, kept as a digest. */
const prefixes = { user: 'yt', join: 'yj' } as const;

export interface DrawnToken {
  readonly id: string;
  /** What is shown, once. */
  readonly text: string;
  /** Of its secret: all that is kept. */
  readonly hash: string;
}

/** A new token of its kind; its id is no secret. */
export function drawToken(kind: 'user' | 'join', chance: Chance, digests: Digests): DrawnToken {
  const id = toHex(chance.bytes(5));
  const secret = drawSecret(chance);
  return { id, text: `${prefixes[kind]}_${id}_${secret}`, hash: hashSecret(secret, digests) };
}

/** A new key of a node: the agent draws it, keeps it, and shows it to the control plane over TLS only. */
export function drawNodeKey(chance: Chance): string {
  return drawSecret(chance);
}

function drawSecret(chance: Chance): string {
  return toHex(chance.bytes(32));
}

/** What is kept of a secret or key. It is 256 bits of chance, so one round of SHA-256 is enough. */
export function hashSecret(secret: string, digests: Digests): string {
  return digests.sha256(new TextEncoder().encode(secret));
}

/** What somebody shows to be let in. */
export type Presented =
  | { readonly kind: 'user' | 'join'; readonly id: string; readonly secret: string }
  | { readonly kind: 'node'; readonly node: string; readonly secret: string };

export type Verified =
  | UserPrincipal
  | NodePrincipal
  /** Whether it lets this node in is decided under the lock (UseJoinToken). */
  | { readonly kind: 'join'; readonly token: string }
  /** `meant` is the token or node that exists and was not shown its secret, or the token that has expired: for the audit. */
  | { readonly kind: 'nobody'; readonly refusal: Refusal; readonly meant: string | null };

/** Who it is. Takes the same time whatever differs, and whether there is anything to compare with (R4.23). */
export function verify(
  state: State,
  presented: Presented,
  { nowMs, digests }: { readonly nowMs: number; readonly digests: Digests },
): Verified {
  const { tokens, nodeKeys } = state.access;
  const { kind } = presented;
  const known = kind === 'node' ? nodeKeys.get(presented.node) : tokenOfKind(tokens.get(presented.id), kind);
  const isSame = digests.timingSafeEqual(known?.hash ?? noDigest, hashSecret(presented.secret, digests));
  const meant = known === undefined ? null : whoIsMeant(presented);
  if (known === undefined || !isSame) return nobody(unknown[kind], kind, meant);
  if (!('kind' in known)) return { kind: 'node', name: known.node };
  if (isOver(known, nowMs)) return nobody('the token has expired', kind, meant);
  return known.kind === 'user'
    ? { kind: 'user', name: known.user, token: known.id }
    : { kind: 'join', token: known.id };
}

/** The digest of nothing that anybody could show. */
const noDigest = '0'.repeat(64);

function tokenOfKind(token: Token | undefined, kind: Token['kind']): Token | undefined {
  return token?.kind === kind ? token : undefined;
}

function whoIsMeant(presented: Presented): string {
  return presented.kind === 'node' ? `node ${presented.node}` : `token ${presented.id}`;
}

/** Of a join token nothing is kept once a node has used it. */
const unknown = {
  user: 'the token is unknown or was revoked',
  join: 'the token is unknown, was used by a node already, or was revoked',
  node: "the node's key is unknown: the node was removed, or let in anew",
} as const satisfies Record<Presented['kind'], string>;

const hints = {
  user: 'yard login',
  join: 'an administrator makes another: yard tokens create --join',
  node: 'let it join again: an administrator makes a token with yard tokens create --join',
} as const satisfies Record<Presented['kind'], string>;

function nobody(message: string, kind: Presented['kind'], meant: string | null): Verified {
  return { kind: 'nobody', refusal: refuse('UNAUTHORIZED', message, { hint: hints[kind] }), meant };
}
