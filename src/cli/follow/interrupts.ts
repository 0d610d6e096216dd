import type { JobHandle } from '../../client/api.ts';
import { RefusalError } from '../../client/refusal-error.ts';
import type { JobView } from '../../core/job/view.ts';
import { refuse } from '../../core/refusal.ts';
import { describeDuration } from '../../core/units.ts';
import type { Context } from '../context.ts';
import type { OwnNode } from './own-node.ts';

/** What signals have to know of the node. */
export type HeldNode = Pick<OwnNode, 'isOurs' | 'endTasks'>;

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
 *
 * A stop that a full disk refuses is said, and the second one, or a lost terminal, ends what this command runs itself.
 */
export function watchInterrupts(context: Context, node: HeldNode): Interrupts {
  const letGo = new AbortController();
  let attached: { readonly job: JobHandle; readonly view: JobView } | null = null;
  let stops = 0;
  let hasTerminal = true;
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
    const isLast = stops > 1 || !hasTerminal;
    const graceMs = stops === 1 ? view.settings.graceMs : 0;
    job.stop(stops === 1 ? {} : { graceMs: 0 }).catch((error: unknown) => {
      if (!isFullDisk(error) || !node.isOurs()) return reject(error);
      if (isLast) return endHere(node, job.id, graceMs).then(reject, reject);
      context.output.note(`${job.id}  ${unwritten}; make room, or Ctrl-C again ends it here`);
    });
  };
  const leave = (): void => {
    if (node.isOurs()) stop();
    else letGo.abort();
  };
  const ends = [
    context.onSignal('SIGINT', stop),
    context.onSignal('SIGTERM', stop),
    context.onSignal('SIGQUIT', leave),
    context.onSignal('SIGHUP', () => {
      hasTerminal = false;
      leave();
    }),
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

const unwritten = 'the stop could not be written: the disk that holds the log is full';

function isFullDisk(error: unknown): boolean {
  return error instanceof RefusalError && error.code === 'STORE_FULL';
}

/** Ends what runs in this process's own node. Resolves with what is to be said as the command ends. */
async function endHere(node: HeldNode, id: string, graceMs: number): Promise<RefusalError> {
  const isGone = await node.endTasks(id, { graceMs });
  const what = isGone ? 'what it ran here has been ended' : 'some of what it runs here could not be killed';
  return new RefusalError(
    refuse('STORE_FULL', `${id}: ${unwritten}; ${what}`, { hint: `make room, then yard stop ${id}` }),
  );
}
