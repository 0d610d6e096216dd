import type { TaskEvent } from '../../core/job/facts.ts';
import type { ProcessEnd } from '../process-step.ts';

/** Ends that no restart follows, whatever the policy says: the node is at fault, or time is up. */
export const unkillable: ProcessEnd = {
  kind: 'fault',
  message: 'unkillable: a process of it is still alive 60 s after SIGKILL',
  held: true,
};

export const rebooted: TaskEvent = { kind: 'NodeFault', message: 'the host rebooted while it ran', held: false };

/** How an end that the command did not come to by itself is told. */
export function eventOf(end: Exclude<ProcessEnd, { kind: 'ended' }>): TaskEvent {
  return end.kind === 'timed-out'
    ? { kind: 'TimedOut', timeoutMs: end.timeoutMs }
    : { kind: 'NodeFault', message: end.message, held: end.held };
}
