import { everyRow } from './coverage.ts';
import { whyNeverSeen } from './exemptions.ts';
import { servedStrikeKinds, wireChanceKinds } from './served/rates.ts';

/** Rows that the few seeds of a test run must bring about: those of embedded nodes, or those that only a server has. */
export function quickRows(of: 'embedded' | 'served'): readonly string[] {
  return everyRow().filter(
    (row) => whyNeverSeen(row) === null && !rare.has(row) && isServedOnly(row) === (of === 'served'),
  );
}

/** It takes a server. */
export function isServedOnly(row: string): boolean {
  return servedOnly.has(row);
}

const rows = (what: string, names: readonly string[]): readonly string[] => names.map((name) => `${what} ${name}`);

const servedOnly: ReadonlySet<string> = new Set([
  ...rows('fault', [...servedStrikeKinds, ...wireChanceKinds]),
  ...rows('transition Evicted at', ['materialize', 'setup', 'prepare', 'run']),
  ...rows('node', ['suspect', 'lost']),
  ...rows('fact', ['NodeSuspected', 'NodeResponded', 'NodeDeclaredLost', 'LossHeld', 'LossReleased']),
  ...rows('fact', ['Evicted', 'RetryRequested', 'TokenCreated', 'NodeAdmitted', 'AccessRefused']),
  ...rows('fact', ['ProjectCreated', 'ProjectChanged', 'ProjectRemoved', 'RoleGranted', 'RoleRevoked', 'TokenRevoked']),
  ...rows('fact', ['SecretSet', 'SecretShared', 'SecretRemoved', 'NodeSecretsChanged']),
  ...rows('refusal', ['RANGE', 'BAD_VALUE', 'BAD_NAME', 'BAD_BYTE', 'BAD_ENV_KEY', 'ENV_TOO_LARGE', 'PATH_ESCAPE']),
  ...rows('refusal', ['NEVER_FIRES', 'PORT_CONFLICT', 'MISSING_BLOBS', 'ID_TAKEN', 'IDEMPOTENCY_MISMATCH']),
  ...rows('refusal', ['TOO_LARGE', 'SECRET_NOT_SET', 'NO_NODE', 'NODE_TAKEN', 'QUOTA']),
  ...rows('refusal', ['UNAUTHORIZED', 'FORBIDDEN', 'CLOCK_SKEW', 'FUTURE_ATTEMPT']),
]);

/** Seen in so few seeds that only the full form of the coverage test asks for them. */
export const rare: ReadonlySet<string> = new Set([
  ...rows('transition OperatorStop at', ['materialize', 'prepare']),
  ...rows('transition NodeLost at', ['materialize', 'setup', 'prepare']),
  ...rows('transition Evicted at', ['materialize', 'prepare']),
  ...rows('rollout', ['paused to rolled-back', 'failed to rolled-back', 'failed to progressing']),
  ...rows('fact', ['NodeRemoved', 'ServiceSettled', 'ServiceCompleted', 'RetryRequested']),
  ...rows('fact', ['RoleRevoked', 'ProjectRemoved', 'TokenRevoked']),
  ...rows('refusal', ['QUOTA', 'NODE_TAKEN']),
  'service COMPLETED',
]);
