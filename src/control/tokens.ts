import type { Token } from '../core/access/access.ts';
import { isOver } from '../core/access/authorize.ts';
import type { NodePrincipal, UserPrincipal } from '../core/access/principal.ts';
import { type Refusal, refuse } from '../core/refusal.ts';
import type { State } from '../core/state.ts';
import type { Digests } from '../host/bytes.ts';
import type { Chance } from '../host/chance.ts';

/** `yt_<id>_<secret>` lets a user in, `yj_<id>_<secret>` a node join: 256 bits of chance, shown once, kept as a digest. */
const prefixes = { user: 'yt', join: 'yj' } as const;

const secretBytes = 32;
const tokenForm = /^(yt|yj)_([a-z0-9]{6,32})_([0-9a-f]{64})$/;
const keyForm = /^[0-9a-f]{64}$/;

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
  const secret = toHex(chance.bytes(secretBytes));
  return { id, text: `${prefixes[kind]}_${id}_${secret}`, hash: hashSecret(secret, digests) };
}

/** A new key of a node: the agent draws it, keeps it, and shows it to the control plane over TLS only. */
export function drawNodeKey(chance: Chance): string {
  return toHex(chance.bytes(secretBytes));
}

/** What is kept of a secret or key. It is 256 bits of chance, so one round of SHA-256 is enough. */
export function hashSecret(secret: string, digests: Digests): string {
  return digests.sha256(new TextEncoder().encode(secret));
}

/** Who it is, or why not; `token` names the token that was meant, where there is one, for the audit and for limits. */
export type Verified<Who> =
  | { readonly kind: 'known'; readonly who: Who }
  | { readonly kind: 'unknown'; readonly refusal: Refusal; readonly token: string | null };

/** The user whose token this is. */
export function verifyUserToken(
  state: State,
  presented: string,
  context: { readonly nowMs: number; readonly digests: Digests },
): Verified<UserPrincipal> {
  const found = verify(state, presented, 'user', context);
  if (found.kind === 'unknown') return found;
  const { id, user } = found.who;
  return { kind: 'known', who: { kind: 'user', name: user, token: id } };
}

/** The id of the join token that this is, not used yet. Whether it may be used is decided under the lock (UseJoinToken). */
export function verifyJoinToken(
  state: State,
  presented: string,
  context: { readonly nowMs: number; readonly digests: Digests },
): Verified<{ readonly id: string }> {
  const found = verify(state, presented, 'join', context);
  return found.kind === 'unknown' ? found : { kind: 'known', who: { id: found.who.id } };
}

/** The node whose key this is. */
export function verifyNodeKey(
  state: State,
  presented: { readonly node: string; readonly key: string },
  digests: Digests,
): Verified<NodePrincipal> {
  const known = state.access.nodeKeys.get(presented.node);
  const hash = hashSecret(keyForm.test(presented.key) ? presented.key : '', digests);
  if (digests.timingSafeEqual(known?.hash ?? nobody, hash)) {
    return { kind: 'known', who: { kind: 'node', name: presented.node } };
  }
  const refusal = refuse('UNAUTHORIZED', 'the key is not that of the node', {
    hint: 'let it join: an administrator makes a join token with yard tokens create --join',
  });
  return { kind: 'unknown', refusal, token: null };
}

/** The digest of no secret. */
const nobody = '0'.repeat(64);

function verify<Kind extends 'user' | 'join'>(
  state: State,
  presented: string,
  kind: Kind,
  { nowMs, digests }: { readonly nowMs: number; readonly digests: Digests },
): Verified<Extract<Token, { kind: Kind }>> {
  const [, prefix, id = '', secret = ''] = tokenForm.exec(presented) ?? [];
  const token = prefix === prefixes[kind] ? state.access.tokens.get(id) : undefined;
  // Done for unknown tokens too: the time tells nothing of which ids there are.
  const fits = digests.timingSafeEqual(token?.hash ?? nobody, hashSecret(secret, digests));
  if (isOfKind(token, kind) && fits && !isOver(token, nowMs)) return { kind: 'known', who: token };
  const isExpired = token !== undefined && fits;
  const message = isExpired ? 'the token has expired' : 'the token is unknown or was revoked';
  const hint = kind === 'join' ? 'an administrator makes another: yard tokens create --join' : 'yard login';
  return { kind: 'unknown', refusal: refuse('UNAUTHORIZED', message, { hint }), token: token?.id ?? null };
}

function isOfKind<Kind extends 'user' | 'join'>(
  token: Token | undefined,
  kind: Kind,
): token is Extract<Token, { kind: Kind }> {
  return token?.kind === kind;
}

function toHex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
