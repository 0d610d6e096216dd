import type { IncomingMessage } from 'node:http';
import { RefusalError } from '../client/refusal-error.ts';
import { type Presented as OurToken, type Verified, verify } from '../control/tokens.ts';
import { isOver } from '../core/access/authorize.ts';
import type { Principal } from '../core/access/principal.ts';
import { refuse } from '../core/refusal.ts';
import type { Access } from '../wire/http/route.ts';
import { plainAddress } from './allowed-hosts.ts';
import { RefusedForNow, refused } from './http-refusal.ts';
import { type Presented, readPresented } from './presented-token.ts';
import type { ServerParts } from './server-parts.ts';

/** Whom a request without a token, or with one that is no user's yet, speaks for. */
const nobody: Principal = { kind: 'node', name: '' };

/** Which tokens open which routes. */
const opens: Readonly<Record<Access, readonly Presented['kind'][]>> = {
  public: [],
  user: ['user'],
  node: ['node'],
  'user-or-node': ['user', 'node'],
  join: ['join'],
  identity: ['identity'],
};

/**
 * Who asks, by the token presented. Throws UNAUTHORIZED where it opens nothing, TOO_MANY where that happened too often.
 * Who comes with a token of the OIDC issuer is known by name only, and may do nothing but sign in; who comes with a join
 * token is nobody yet.
 */
export async function whoAsks(server: ServerParts, request: IncomingMessage, access: Access): Promise<Principal> {
  if (access === 'public') return nobody;
  const presented = readPresented(request.headers.authorization);
  const keys = guessKeys(request, presented);
  const digest = server.embedded.host.digests.sha256(new TextEncoder().encode(request.headers.authorization ?? ''));
  const seconds = server.guesses.blockedForSeconds(keys);
  if (seconds !== null && !server.guesses.isKnownGood(digest)) throw tooManyGuesses(seconds);
  if (presented === null) {
    throw refused('UNAUTHORIZED', 'there is no token in this request', {
      hint: 'send it as the header Authorization: Bearer …; yard login keeps one',
    });
  }
  if (!opens[access].includes(presented.kind)) throw notForThis(presented.kind, access);
  if (presented.kind === 'identity') return signsIn(server, presented.text, keys);
  const verified = await verifyNow(server, presented);
  if (verified.kind !== 'nobody') {
    server.guesses.wasGood(digest);
    return verified.kind === 'join' ? nobody : verified;
  }
  server.guesses.failed(keys);
  if (verified.meant !== null) {
    const attempt = { who: verified.meant, action: 'sign-in', subject: null, code: 'UNAUTHORIZED' } as const;
    server.embedded.plane.auditRefusal(attempt);
  }
  throw new RefusalError(verified.refusal);
}

/** What a token is of, in words. */
const kinds = {
  user: "a user's token",
  node: "a node's key",
  join: 'a join token',
  identity: 'a token of its OIDC issuer',
} as const satisfies Record<Presented['kind'], string>;

function notForThis(kind: Presented['kind'], access: Access): Error {
  const wanted = opens[access].map((one) => kinds[one]).join(' or ');
  const found = kind === 'identity' ? 'no token of Runyard' : kinds[kind];
  const hint = access === 'join' ? 'yard tokens create --join makes one' : 'yard login';
  return refused('UNAUTHORIZED', `this is for ${wanted}, and what was sent is ${found}`, { hint });
}

async function signsIn(server: ServerParts, token: string, keys: readonly string[]): Promise<Principal> {
  const { identities, embedded } = server;
  if (identities === null) throw refused('UNAUTHORIZED', 'people sign in to this server with tokens only');
  try {
    return { kind: 'user', name: await identities.verify(token, embedded.host.clock.wallMs()), token: '' };
  } catch (error) {
    if (error instanceof RefusalError && error.code === 'UNAUTHORIZED') server.guesses.failed(keys);
    throw error;
  }
}

/** Why somebody who was let in is not any more; null while nothing has changed. */
export function whyNoLonger({ embedded }: ServerParts, actor: Principal): Error | null {
  if (actor.kind !== 'user') return null;
  const { plane } = embedded;
  const token = plane.state.access.tokens.get(actor.token);
  if (token?.kind === 'user' && !isOver(token, plane.nowMs())) return null;
  return refused('UNAUTHORIZED', 'the token was revoked meanwhile, or has expired', { hint: 'yard login' });
}

/** The id of the join token that a request came with, which was looked at when it was let in. */
export function joinTokenOf(request: Pick<IncomingMessage, 'headers'>): string {
  const presented = readPresented(request.headers.authorization);
  if (presented?.kind === 'join') return presented.id;
  throw refused('UNAUTHORIZED', 'there is no join token in this request');
}

/** What another process on this home has made a moment ago is looked for before it counts as unknown. */
async function verifyNow({ embedded }: ServerParts, presented: OurToken): Promise<Verified> {
  const { plane, host } = embedded;
  const look = (): Verified => verify(plane.state, presented, { nowMs: plane.nowMs(), digests: host.digests });
  const verified = look();
  if (verified.kind !== 'nobody') return verified;
  await plane.catchUp();
  return look();
}

function tooManyGuesses(seconds: number): Error {
  const message = `too many tokens that are worth nothing came from there; the next is looked at in ${seconds} s`;
  return new RefusedForNow(refuse('TOO_MANY', message), seconds);
}

function guessKeys({ socket }: IncomingMessage, presented: Presented | null): readonly string[] {
  const address = `address ${plainAddress(socket.remoteAddress ?? '')}`;
  if (presented === null || presented.kind === 'identity') return [address];
  return [address, `${presented.kind} ${presented.kind === 'node' ? presented.node : presented.id}`];
}
