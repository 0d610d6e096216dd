import { describeDuration } from '../units.ts';
import type { ServiceFact } from './facts.ts';

/** A fact as the service's list of events tells it; null for those that people need not read. */
export function eventMessage(fact: ServiceFact, nowMs: number): string | null {
  switch (fact.kind) {
    case 'ServiceApplied':
      return `revision ${fact.revision.number} applied by ${fact.by}`;
    case 'ServiceScaled':
      return `scaled to ${fact.desired} by ${fact.by}`;
    case 'ServiceStarted':
      return `started by ${fact.by}`;
    case 'ServiceStopped':
      return `stopped by ${fact.by}`;
    case 'ServiceCompleted':
      return 'every replica ended well';
    case 'ReplacementDelayed': {
      const delayMs = fact.untilMs - nowMs;
      return `${fact.reason}; replaced ${delayMs > 0 ? `in ${describeDuration(delayMs)}` : 'at once'}`;
    }
    case 'ReplicaDismissed':
      return `${fact.job} dismissed: ${fact.reason}`;
    case 'RolloutStarted':
      return fact.from === fact.to
        ? `rollout of revision ${fact.to} started`
        : `rollout from revision ${fact.from} to ${fact.to} started`;
    case 'RolloutPaused':
      return `rollout paused by ${fact.by}`;
    case 'RolloutResumed':
      return `rollout resumed by ${fact.by}`;
    case 'RolloutEnded':
      return `rollout ${fact.state.replace('-', ' ')}${fact.reason === null ? '' : `: ${fact.reason}`}`;
    case 'RolloutAdvanced':
    case 'ServiceSettled':
    case 'ServiceRemoved':
      return null;
  }
}
