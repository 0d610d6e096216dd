import { type Refusal, refuse } from '../refusal.ts';

/** What happens when a supervised process ends. The same for service replicas, Runyard's own daemons and virtual nodes (X11). */
export interface RestartPolicy {
  readonly policy: 'always' | 'on-failure' | 'never';
  readonly backoff: { readonly initialMs: number; readonly maxMs: number };
  /** All restarts of the attempt; null for no limit. */
  readonly maxRestarts: number | null;
  readonly giveUp: GiveUpRule | null;
  /** What follows giving up: the attempt ends for good, or goes back to the queue as the next one. */
  readonly onGiveUp: 'end' | 'requeue';
}

export type GiveUpRule =
  /** So many failures in a row, without a stable period between them. */
  | { readonly kind: 'failures'; readonly failures: number }
  /** So many restarts within a window. */
  | { readonly kind: 'restarts'; readonly restarts: number; readonly windowMs: number };

/** A process that runs and is ready for this long has recovered: the backoff starts anew. */
export const stablePeriodMs = 60_000;

/** Jitter of a delay, as a share of it in both directions. */
export const jitterShare = 0.2;

export const defaultRestart: RestartPolicy = {
  policy: 'always',
  backoff: { initialMs: 1000, maxMs: 30_000 },
  maxRestarts: null,
  giveUp: null,
  onGiveUp: 'end',
};

/** A rule that no history could ever fulfil is refused: whoever wrote it relies on it (reliability of restarts). */
export function checkRestartPolicy(policy: RestartPolicy): Refusal | null {
  const { giveUp, backoff } = policy;
  const wrong = checkNumbers(policy);
  if (wrong !== null) return wrong;
  if (backoff.maxMs < backoff.initialMs) {
    return refuse(
      'RANGE',
      `restart.backoff.max is ${backoff.maxMs} ms, less than its initial ${backoff.initialMs} ms`,
      {
        path: 'profile.restart.backoff',
      },
    );
  }
  if (giveUp?.kind !== 'restarts') return null;
  const possible = mostRestartsWithin(policy, giveUp.windowMs);
  if (giveUp.restarts <= possible) return null;
  return refuse(
    'NEVER_FIRES',
    `restart.giveUp wants ${giveUp.restarts} restarts within ${giveUp.windowMs / 1000} s, but the backoff allows at most ${possible}`,
    { path: 'profile.restart.giveUp', hint: `ask for at most ${possible}, a longer window, or failures = N` },
  );
}

function checkNumbers({ backoff, maxRestarts, giveUp }: RestartPolicy): Refusal | null {
  return (
    atLeast(backoff.initialMs, 'backoff.initial', 0, ' ms') ??
    atLeast(backoff.maxMs, 'backoff.max', 0, ' ms') ??
    (maxRestarts === null ? null : atLeast(maxRestarts, 'maxRestarts', 0)) ??
    (giveUp?.kind === 'failures' ? atLeast(giveUp.failures, 'giveUp.failures', 1) : null) ??
    (giveUp?.kind === 'restarts' ? atLeast(giveUp.restarts, 'giveUp.restarts', 1) : null) ??
    (giveUp?.kind === 'restarts' ? atLeast(giveUp.windowMs, 'giveUp.window', 1, ' ms') : null)
  );
}

function atLeast(value: number, key: string, least: number, unit = ''): Refusal | null {
  if (Number.isSafeInteger(value) && value >= least) return null;
  const message = `restart.${key} is ${value}${unit}; expected a whole number from ${least}`;
  return refuse('RANGE', message, { path: `profile.restart.${key}` });
}

/** How many restarts fit into a window when each run ends at once, every delay as short as jitter makes it. */
export function mostRestartsWithin(policy: RestartPolicy, windowMs: number): number {
  const { initialMs, maxMs } = policy.backoff;
  const shortest = 1 - jitterShare;
  if (initialMs === 0 || maxMs * shortest < 1) return Number.POSITIVE_INFINITY;
  let atMs = 0;
  let restarts = 0;
  for (let failures = 1; ; failures += 1) {
    atMs += Math.min(maxMs, initialMs * 2 ** (failures - 1)) * shortest;
    if (atMs > windowMs) return restarts;
    restarts += 1;
    if (restarts > 1_000_000) return restarts;
  }
}
