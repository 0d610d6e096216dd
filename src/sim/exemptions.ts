import type { RefusalCode } from '../core/refusal.ts';

/** Why seeds cannot bring about a row; null for one that they should. A row that was seen after all may not stand here. */
export function whyNeverSeen(row: string): string | null {
  const [what, name = ''] = row.split(' ');
  if (what === 'refusal' && !decided.has(name as RefusalCode)) return beforeCommands;
  return unseen[row] ?? null;
}

/** Refusals that the control plane itself gives and that the commands of simulated people can meet. */
const decided: ReadonlySet<RefusalCode> = new Set<RefusalCode>([
  ...(['BAD_BYTE', 'BAD_ENV_KEY', 'BAD_NAME', 'BAD_VALUE', 'RANGE', 'NEVER_FIRES', 'ENV_TOO_LARGE'] as const),
  ...(['PATH_ESCAPE', 'PORT_CONFLICT', 'TOO_LARGE', 'MISSING_BLOBS', 'ID_TAKEN', 'IDEMPOTENCY_MISMATCH'] as const),
  ...(['SECRET_NOT_SET', 'NO_NODE', 'NODE_TAKEN', 'CLOCK_SKEW', 'STORE_FULL'] as const),
  ...(['NOT_FOUND', 'WRONG_STATE', 'STALE_ATTEMPT', 'NOT_ASSIGNED', 'FUTURE_ATTEMPT'] as const),
  ...(['UNAUTHORIZED', 'FORBIDDEN', 'QUOTA'] as const),
]);

const beforeCommands = 'given where files, requests and tokens are read, or for what the simulator has none of';
const noStart = 'a task stands there only while its node is not seen, and no command of the simulator finds it then';
const noMoment = 'it takes records lost, or a reboot, within the milliseconds of that step: none of 1000 seeds had it';
const noCommand = 'agents say it of what a command does, and none runs there';

const unseen: Readonly<Record<string, string>> = {
  ...exempt(
    'transition',
    ['TimedOut', 'NodeFault', 'NodeLost', 'OperatorStop', 'Evicted'].map((kind) => `${kind} at claimed`),
    noStart,
  ),
  ...exempt('transition', ['TimedOut at materialize', 'TimedOut at prepare'], noCommand),
  ...exempt('transition', ['NodeFault at materialize', 'NodeFault at prepare'], noMoment),
};

function exempt(what: string, names: readonly string[], why: string): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [`${what} ${name}`, why]));
}
