import type { JobView } from '../../core/job/view.ts';
import { isSuccess, type Outcome } from '../../core/reason.ts';

/**
 * One index or rank of a job, as the job is shown: state, reasons, attempt, tasks and outputs are those of the part, and
 * all else is of the job. A rank shares its state with the others.
 */
export function partView(view: JobView, part: number): JobView {
  const isArray = view.array !== null;
  const tasks = view.tasks.filter((task) => (isArray ? task.index : task.rank) === part);
  const outputs = view.outputs.filter(({ index }) => index === part || (!isArray && index === null));
  if (!isArray) return { ...view, tasks, outputs };
  // What was never begun when the whole ended has ended with it.
  const outcome = outcomeOf(view, part) ?? view.outcome;
  const isPending = outcome === null && tasks.every(({ step }) => step === 'ended');
  return {
    ...view,
    state: outcome === null ? (isPending ? 'PENDING' : 'RUNNING') : isSuccess(outcome) ? 'COMPLETED' : 'FAILED',
    waiting: isPending ? view.waiting : null,
    outcome,
    attempt: Math.max(0, ...tasks.map((task) => task.attempt)),
    tasks,
    outputs,
  };
}

/** The outcome of the whole, or of the part that was asked for; null while it has none. */
export function outcomeOf(view: JobView, part: number | null): Outcome | null {
  if (part === null) return view.outcome;
  const tasks = view.tasks.filter((task) => (view.array === null ? task.rank : task.index) === part);
  return tasks[tasks.length - 1]?.outcome ?? (view.array === null ? view.outcome : null);
}
