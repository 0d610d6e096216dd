import { exitOutcome, howItExited, isSuccess, type Outcome } from '../reason.ts';
import type { TaskFact } from './facts.ts';
import type { LiveElement } from './job.ts';

/** How the attempt ends because of this event; null while it goes on, or when a peer still has to exit. */
export function verdictOf(element: LiveElement, fact: TaskFact): Outcome | null {
  const rank = element.tasks.length > 1 ? `rank ${fact.rank} ` : '';
  switch (fact.kind) {
    case 'SetupFailed': {
      const how = howItExited(fact);
      const where = fact.line === null ? '' : ` at line ${fact.line.number}: ${fact.line.text}`;
      return {
        reason: 'setup-failed',
        exitCode: fact.exitCode,
        signal: fact.signal,
        message: `${rank}setup ${how}${where}${fact.detail ? `: ${fact.detail}` : ''}`,
      };
    }
    case 'JobExited': {
      const outcome = exitOutcome(fact);
      const failed = !isSuccess(outcome);
      const last = element.tasks.every(
        (peer) => peer.rank === fact.rank || peer.step === 'collect' || peer.step === 'ended',
      );
      // What ended well did so in every rank; which of them was the last says nothing.
      const whose = failed ? rank : element.tasks.length > 1 ? 'every rank ' : '';
      return failed || last ? { ...outcome, message: whose + outcome.message } : null;
    }
    case 'TimedOut':
      return {
        reason: 'timed-out',
        exitCode: null,
        signal: null,
        message: `${rank}ran longer than its timeout of ${fact.timeoutMs / 1000} s`,
      };
    case 'GaveUp':
      return { reason: 'gave-up', exitCode: null, signal: null, message: rank + fact.message };
    case 'NodeFault':
      return { reason: 'node-fault', exitCode: null, signal: null, message: rank + fact.message };
    case 'NodeLost':
      return { reason: 'node-lost', exitCode: null, signal: null, message: rank + fact.message };
    default:
      return null;
  }
}
