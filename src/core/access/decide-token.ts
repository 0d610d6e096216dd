import { type Decision, done } from '../decide.ts';
import { checkName } from '../job/check-spec.ts';
import { type Refusal, refuse } from '../refusal.ts';
import type { State } from '../state.ts';
import { describeDuration } from '../units.ts';
import { isOver } from './authorize.ts';
import type { CreateJoinToken, CreateToken, UseJoinToken } from './command.ts';
import { checkProject, checkUser } from './decide.ts';

const shortestMs = 1000;
const longestMs = 10 * 365 * 86_400_000;
const longestJoinMs = 30 * 86_400_000;

export function decideToken(state: State, command: CreateToken, nowMs: number): Decision | Refusal {
  const { token: id, hash, user, lifetimeMs, project, admin, by } = command;
  const wrong =
    checkFresh(state, id, hash) ??
    checkUser(user) ??
    (lifetimeMs === null ? null : checkLifetime(lifetimeMs, longestMs)) ??
    (project === null ? null : checkProject(state, project));
  if (wrong !== null) return wrong;
  if (admin && project !== null) {
    return refuse('BAD_VALUE', "an administrator's token is good for everything, not for one project", {
      path: 'project',
      hint: 'leave out --admin or --project',
    });
  }
  const expiresAtMs = lifetimeMs === null ? null : nowMs + lifetimeMs;
  const token = { kind: 'user' as const, id, user, hash, createdAtMs: nowMs, expiresAtMs, project, admin };
  return done([{ kind: 'TokenCreated', token, by }]);
}

export function decideJoinToken(state: State, command: CreateJoinToken, nowMs: number): Decision | Refusal {
  const { token: id, hash, lifetimeMs, node, by } = command;
  const wrong =
    checkFresh(state, id, hash) ??
    checkLifetime(lifetimeMs, longestJoinMs) ??
    (node === null ? null : checkName(node, 'node'));
  if (wrong !== null) return wrong;
  const token = { kind: 'join' as const, id, hash, createdAtMs: nowMs, expiresAtMs: nowMs + lifetimeMs, node };
  return done([{ kind: 'TokenCreated', token, by }]);
}

/** One token lets in one node; asked again for the same node and key, whose answer was lost, it changes nothing. */
export function decideUseJoinToken(state: State, command: UseJoinToken, nowMs: number): Decision | Refusal {
  const { token: id, node, keyHash } = command;
  const wrong = checkName(node, 'node') ?? checkHash(keyHash, 'keyHash');
  if (wrong !== null) return wrong;
  const known = state.access.nodeKeys.get(node);
  if (known?.token === id && known.hash === keyHash) return done([]);
  const token = state.access.tokens.get(id);
  if (token?.kind !== 'join' || isOver(token, nowMs)) {
    return refuse('UNAUTHORIZED', 'the join token was used, was revoked, or has expired', {
      hint: 'an administrator makes another: yard tokens create --join',
    });
  }
  if (token.node !== null && token.node !== node) {
    return refuse('FORBIDDEN', `this join token lets in node ${token.node}, not ${node}`, {
      hint: `start it with --name ${token.node}`,
    });
  }
  if (token.node === null && (known !== undefined || state.nodes.has(node))) {
    return refuse('NODE_TAKEN', `there is a node ${node} already`, {
      hint: `another --name; or, if it is this very machine: yard tokens create --join --node ${node}`,
    });
  }
  return done([{ kind: 'NodeAdmitted', node, token: id, keyHash }]);
}

const idForm = /^[a-z0-9]{6,32}$/;
const hashForm = /^[0-9a-f]{64}$/;

function checkFresh(state: State, id: string, hash: string): Refusal | null {
  if (!idForm.test(id)) return refuse('BAD_VALUE', 'the id of a token is 6 to 32 of a-z and 0-9', { path: 'token' });
  if (state.access.tokens.has(id)) return refuse('ID_TAKEN', `there is a token ${id} already`);
  return checkHash(hash, 'hash');
}

function checkHash(hash: string, path: string): Refusal | null {
  if (hashForm.test(hash)) return null;
  return refuse('BAD_VALUE', `${path} is no SHA-256 in lower-case hex`, { path });
}

function checkLifetime(lifetimeMs: number, mostMs: number): Refusal | null {
  if (Number.isSafeInteger(lifetimeMs) && lifetimeMs >= shortestMs && lifetimeMs <= mostMs) return null;
  return refuse('RANGE', `the token would expire after ${lifetimeMs} ms; expected 1 s to ${describeDuration(mostMs)}`, {
    path: 'expires',
  });
}
