import { isSuccess, type Outcome } from '../reason.ts';
import type { Job } from './job.ts';

const firstDelayMs = 1000;
const longestDelayMs = 30_000;

/**
 * Log time at which the next attempt may start, or null when this one was the last (U2).
 * A lost or faulty node is no fault of the work: its next attempt starts at once, unless its profile says `fail`. A named exit code waits 1 s, doubling to 30 s.
 */
export function nextAttemptAtMs(job: Job, attempt: number, outcome: Outcome, nowMs: number): number | null {
  const { retry, onNodeLoss } = job.settings;
  const mayGoOn = attempt < retry.maxAttempts || (outcome.reason === 'gave-up' && job.settings.kind === 'service');
  if (isSuccess(outcome) || !mayGoOn) return null;
  switch (outcome.reason) {
    case 'node-lost':
    case 'node-fault':
      return onNodeLoss === 'fail' ? null : nowMs;
    case 'exit':
      return retry.onExit.includes(shellCode(outcome)) ? nowMs + laterMs(attempt) : null;
    case 'gave-up':
      return job.settings.restart.onGiveUp === 'requeue' ? nowMs + laterMs(attempt) : null;
    case 'setup-failed':
    case 'stopped':
    case 'timed-out':
    case 'unschedulable':
      return null;
  }
}

/** 1 s, doubling to 30 s. */
function laterMs(attempt: number): number {
  return Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(attempt - 1, 10));
}

/** The code as a shell gives it: 128+n for signal n. */
export function shellCode(outcome: { readonly exitCode: number | null; readonly signal: number | null }): number {
  return outcome.signal !== null ? 128 + outcome.signal : (outcome.exitCode ?? 1);
}
