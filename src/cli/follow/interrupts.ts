import type { JobHandle } from '../../client/api.ts';
import type { JobView } from '../../core/job/view.ts';
import { describeDuration } from '../../core/units.ts';
import type { Context } from '../context.ts';

/** What signals mean to a command that holds on to a job. */
export interface Interrupts {
  /** From now on signals are about this job; those that came before count. */
  attach(job: JobHandle, view: JobView): void;
  /** Aborts when the command is to let go of the job. */
  readonly detached: AbortSignal;
  /** Rejects when stopping was refused; otherwise never settles. */
  readonly fault: Promise<never>;
  end(): void;
}

/**
 * Ctrl-C and SIGTERM stop the job, the second kills it. Ctrl-\ and a lost terminal let go of it where the node is
 * another process, and stop it where this command serves the node. Before there is a job they end the command.
 */
export function watchInterrupts(context: Context, servesNode: () => boolean): Interrupts {
  const letGo = new AbortController();
  let attached: { readonly job: JobHandle; readonly view: JobView } | null = null;
  let stops = 0;
  let reject = (_error: unknown): void => {};
  const fault = new Promise<never>((_resolve, rejectFault) => {
    reject = rejectFault;
  });
  fault.catch(() => {});

  const stop = (): void => {
    stops += 1;
    if (attached === null) return;
    const { job, view } = attached;
    const grace = describeDuration(view.settings.graceMs).replace('.0 s', ' s');
    if (stops === 1) context.output.note(`stopping ${job.id} (grace ${grace}); Ctrl-C again kills it`);
    else context.output.note(`killing ${job.id}`);
    job.stop(stops === 1 ? {} : { graceMs: 0 }).catch(reject);
  };
  const leave = (): void => {
    if (servesNode()) stop();
    else letGo.abort();
  };
  const ends = [
    context.onSignal('SIGINT', stop),
    context.onSignal('SIGTERM', stop),
    context.onSignal('SIGQUIT', leave),
    context.onSignal('SIGHUP', leave),
  ];
  return {
    attach(job, view) {
      attached = { job, view };
      if (stops === 0) return;
      stops -= 1;
      stop();
    },
    detached: letGo.signal,
    fault,
    end() {
      for (const end of ends) end();
    },
  };
}
