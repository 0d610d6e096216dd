import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { RefusalError } from '../client/refusal-error.ts';
import { isOver } from '../core/access/authorize.ts';
import type { Principal } from '../core/access/principal.ts';
import type { Access } from '../wire/http/route.ts';
import { plainAddress } from './allowed-hosts.ts';
import { refused } from './http-refusal.ts';
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
 * A token of the OIDC issuer and a join token make nobody known: their routes look at them.
 */
export function whoAsks(server: ServerParts, request: IncomingMessage, access: Access): Principal {
  if (access === 'public') return nobody;
  const presented = readPresented(request.headers.authorization);
  const keys = guessKeys(request, presented);
  const seconds = server.guesses.blockedForSeconds(keys);
  if (seconds !== null) throw new TooManyGuesses(seconds);
  if (presented === null) {
    throw refused('UNAUTHORIZED', 'there is no token in this request', {
      hint: 'send it as the header Authorization: Bearer …; yard login keeps one',
    });
  }
  const actor = opens[access].includes(presented.kind) ? verify(server, presented) : null;
  if (actor !== null) return actor;
  server.guesses.failed(keys);
  const what = opens[access].join(' or ');
  throw refused('UNAUTHORIZED', `the token is not one of a ${what}, or is unknown, was revoked or has expired`, {
    hint: 'yard login',
  });
}

/** Another try is looked at after `seconds`. */
export class TooManyGuesses extends RefusalError {
  readonly seconds: number;
  constructor(seconds: number) {
    super({
      refused: true,
      code: 'TOO_MANY',
      message: `too many tokens that are worth nothing came from there; the next is looked at in ${seconds} s`,
      hint: null,
      path: null,
    });
    this.seconds = seconds;
  }
}

function guessKeys({ socket }: IncomingMessage, presented: Presented | null): readonly string[] {
  const address = `address ${plainAddress(socket.remoteAddress ?? '')}`;
  if (presented === null || presented.kind === 'identity') return [address];
  return [address, `${presented.kind} ${presented.kind === 'node' ? presented.node : presented.id}`];
}

/** Null where the secret is not the one whose digest is kept. */
function verify({ embedded }: ServerParts, presented: Presented): Principal | null {
  const { plane, host } = embedded;
  if (presented.kind === 'identity') return nobody;
  const { access } = plane.state;
  const digest = host.digests.sha256(new TextEncoder().encode(presented.secret));
  if (presented.kind === 'node') {
    const key = access.nodeKeys.get(presented.node);
    return isSame(digest, key?.hash) ? { kind: 'node', name: presented.node } : null;
  }
  const token = access.tokens.get(presented.id);
  if (!isSame(digest, token?.hash) || token === undefined || token.kind !== presented.kind) return null;
  if (isOver(token, plane.nowMs())) return null;
  return token.kind === 'user' ? { kind: 'user', name: token.user, token: token.id } : nobody;
}

/** Takes the same time whatever differs, and whether there is anything to compare with. */
function isSame(digest: string, kept: string | undefined): boolean {
  const same = timingSafeEqual(Buffer.from(digest), Buffer.from(kept ?? '0'.repeat(digest.length)));
  return same && kept !== undefined;
}
