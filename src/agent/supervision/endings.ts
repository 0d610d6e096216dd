import type { TaskEvent } from '../../core/job/facts.ts';
import type { ProcessEnd } from '../process-step.ts';

/** No restart follows, whatever the policy says: the node is at fault. */
export const rebooted: TaskEvent = { kind: 'NodeFault', message: 'the host rebooted while it ran', held: false };

/** How an end that the command did not come to by itself is told. */
export function eventOf(end: Exclude<ProcessEnd, { kind: 'ended' }>): TaskEvent {
  return end.kind === 'timed-out'
    ? { kind: 'TimedOut', timeoutMs: end.timeoutMs }
    : { kind: 'NodeFault', message: end.message, held: end.held };
}
