import type { TaskEvent } from '../core/job/facts.ts';
import type { Host } from '../host/host.ts';
import type { Attempt } from './attempt.ts';
import { sweepGraceMs, unkillable } from './process-step.ts';
import { eventOf } from './supervision/endings.ts';
import type { TaskContext } from './task-context.ts';

/**
 * Commands that run beside an attempt. Such a one is no child of the attempt's shim, which knows nothing of it; it holds
 * the attempt's devices too, and ends with it. It may outlive a restart in place, which is the same attempt.
 */
export async function noteCompany(files: Host['files'], attempt: Attempt): Promise<void> {
  await files.writeAtomic(companyPath(attempt), new Uint8Array());
}

/** True where a command was to run beside it. */
export async function hadCompany(files: Host['files'], attempt: Attempt): Promise<boolean> {
  return (await files.stat(companyPath(attempt))) !== null;
}

/** To be called before an event is told after which nothing of the attempt is left. */
export async function endCompany({ host, attempt, stop }: TaskContext, event: TaskEvent): Promise<TaskEvent> {
  if (!(await hadCompany(host.files, attempt))) return event;
  return (await stop(sweepGraceMs)) === 'unkillable' ? eventOf(unkillable) : event;
}

function companyPath({ directory }: Attempt): string {
  return `${directory}/beside`;
}
