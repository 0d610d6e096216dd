import { jitterShare, type RestartPolicy, stablePeriodMs } from './policy.ts';

/** What has happened to a supervised process so far. Plain JSON: it is kept in the supervisor's journal (B3). */
export interface RestartHistory {
  /** Restarts of the attempt, in all. */
  readonly restarts: number;
  /** Failures in a row without a stable period between them. */
  readonly failures: number;
  /** Ends of any kind in a row without a stable period: one that ends well at once, again and again, backs off too. */
  readonly endsInRow: number;
  /** When it was restarted, within the longest window that matters. */
  readonly restartedAtMs: readonly number[];
}

export const freshHistory: RestartHistory = { restarts: 0, failures: 0, endsInRow: 0, restartedAtMs: [] };

/** How a run ended, as far as the decision needs it. */
export interface RunEnd {
  /** `stopped`: we asked for it. `permanent`: it can never start, such as a missing program. */
  readonly kind: 'success' | 'failure' | 'stopped' | 'permanent';
  /** Since when it had been running and ready without a break; null when it was not ready at its end. */
  readonly stableSinceMs: number | null;
  /** One sentence, for the reason shown. */
  readonly message: string;
}

export type RestartDecision =
  | { readonly kind: 'restart'; readonly delayMs: number; readonly history: RestartHistory }
  /** It ends as it ended: nobody wants it again. */
  | { readonly kind: 'end' }
  | { readonly kind: 'give-up'; readonly message: string };

/** What becomes of a process that ended. Pure: the time is an argument, and jitter comes from the seed. */
export function decideRestart(
  policy: RestartPolicy,
  before: RestartHistory,
  end: RunEnd,
  at: { readonly nowMs: number; readonly seed: string },
): RestartDecision {
  if (end.kind === 'stopped' || policy.policy === 'never') return { kind: 'end' };
  if (end.kind === 'permanent') return { kind: 'give-up', message: `cannot start: ${end.message}` };
  if (end.kind === 'success' && policy.policy === 'on-failure') return { kind: 'end' };
  const history = count(policy, before, end, at.nowMs);
  const limit = reachedLimit(policy, history, at.nowMs);
  if (limit !== null) return { kind: 'give-up', message: `${limit}; the last: ${end.message}` };
  const restarts = history.restarts + 1;
  const delayMs = backoffMs(policy, history.endsInRow, `${at.seed}.${restarts}`);
  const restartedAtMs = [...history.restartedAtMs, at.nowMs];
  return { kind: 'restart', delayMs, history: { ...history, restarts, restartedAtMs } };
}

function count(policy: RestartPolicy, before: RestartHistory, end: RunEnd, nowMs: number): RestartHistory {
  const wasStable = end.stableSinceMs !== null && nowMs - end.stableSinceMs >= stablePeriodMs;
  const failures = end.kind === 'failure' ? (wasStable ? 0 : before.failures) + 1 : 0;
  const endsInRow = (wasStable ? 0 : before.endsInRow) + 1;
  const windowMs = policy.giveUp?.kind === 'restarts' ? policy.giveUp.windowMs : 0;
  const restartedAtMs = before.restartedAtMs.filter((restartedMs) => nowMs - restartedMs <= windowMs);
  return { restarts: before.restarts, failures, endsInRow, restartedAtMs };
}

function reachedLimit(policy: RestartPolicy, history: RestartHistory, nowMs: number): string | null {
  const { giveUp, maxRestarts } = policy;
  if (maxRestarts !== null && history.restarts >= maxRestarts)
    return `restarted ${history.restarts} times, as often as it may`;
  if (giveUp?.kind === 'failures' && history.failures >= giveUp.failures)
    return `failed ${history.failures} times in a row`;
  if (giveUp?.kind === 'restarts') {
    const recent = history.restartedAtMs.filter((restartedMs) => nowMs - restartedMs <= giveUp.windowMs).length;
    if (recent >= giveUp.restarts) return `restarted ${recent} times within ${giveUp.windowMs / 1000} s`;
  }
  return null;
}

/** `initial · 2ⁿ⁻¹` up to the maximum, spread by up to 20 % either way: the same seed gives the same delay. */
export function backoffMs(policy: RestartPolicy, failures: number, seed: string): number {
  const { initialMs, maxMs } = policy.backoff;
  const plainMs = Math.min(maxMs, initialMs * 2 ** Math.min(failures - 1, 40));
  return Math.round(plainMs * (1 + jitterShare * (2 * fractionOf(seed) - 1)));
}

/** A number in [0, 1) from a text: FNV-1a, so that every machine draws the same. */
export function fractionOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let position = 0; position < text.length; position += 1) {
    hash ^= text.charCodeAt(position);
    hash = Math.imul(hash, 0x01000193);
  }
  // FNV's high bits are weak for short texts; one more mix spreads them.
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  hash ^= hash >>> 12;
  return (hash >>> 0) / 2 ** 32;
}
