import { shellCode } from '../core/job/retry.ts';
import type { EndReason, Outcome } from '../core/reason.ts';

/** How `run`, `attach` and `wait` end, by the reason of the job: its own code, setup's own, or one of ours. */
export const exitCodes = {
  exit: 'own',
  'setup-failed': 'own',
  'timed-out': 124,
  'node-fault': 125,
  'node-lost': 125,
  stopped: 125,
  'gave-up': 125,
  unschedulable: 125,
} as const satisfies Record<EndReason, number | 'own'>;

/** Runyard refused, or the job ended for a reason that is not its own. */
export const notItsOwn = 125;
export const failed = 1;
export const usage = 2;
/** A daemon that ended so is not started again: only a person can change what is wrong. */
export const notAgain = 78;

/** The code a shell would give: 128+n for signal n, 126 and 127 as they came. */
export function exitCodeOf(outcome: Outcome): number {
  const code = exitCodes[outcome.reason];
  return code === 'own' ? shellCode(outcome) : code;
}

/** Of several jobs: the first that is not zero, in the order given. */
export function exitCodeOfAll(outcomes: readonly Outcome[]): number {
  return outcomes.map(exitCodeOf).find((code) => code !== 0) ?? 0;
}
