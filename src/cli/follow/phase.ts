import { steps } from '../../core/job/lifecycle.ts';
import type { JobView, TaskView } from '../../core/job/view.ts';

/** Where a job stands, as the one who follows it sees it. */
export type Phase =
  | { readonly kind: 'waiting'; readonly why: string; readonly attempt: number }
  | { readonly kind: 'materialize' | 'setup' | 'collect'; readonly node: string; readonly attempt: number }
  | {
      readonly kind: 'running';
      readonly nodes: readonly string[];
      readonly devices: readonly string[];
      readonly attempt: number;
    }
  | { readonly kind: 'array'; readonly done: number; readonly size: number; readonly failed: number }
  | { readonly kind: 'ended' };

export function phaseOf(view: JobView): Phase {
  const { array, attempt } = view;
  if (view.outcome !== null) return { kind: 'ended' };
  if (array !== null && view.state === 'RUNNING') {
    return { kind: 'array', done: array.completed + array.failed, size: array.size, failed: array.failed };
  }
  if (view.waiting?.reason === 'node-lost') return { kind: 'waiting', why: view.waiting.message, attempt };
  const tasks = view.tasks.filter((task) => task.attempt === attempt && task.outcome === null);
  const slowest = slowestOf(tasks);
  if (view.state === 'PENDING' || slowest === null || slowest.step === 'claimed') {
    return { kind: 'waiting', why: view.waiting?.message ?? 'is about to be placed', attempt };
  }
  switch (slowest.step) {
    case 'materialize':
    case 'setup':
    case 'collect':
      return { kind: slowest.step, node: slowest.node, attempt };
    case 'prepare':
    case 'run':
    case 'ended':
      return {
        kind: 'running',
        nodes: [...new Set(tasks.map((task) => task.node))],
        devices: tasks.flatMap((task) => task.devices),
        attempt,
      };
  }
}

function slowestOf(tasks: readonly TaskView[]): TaskView | null {
  let slowest: TaskView | null = null;
  for (const task of tasks) {
    if (slowest === null || steps.indexOf(task.step) < steps.indexOf(slowest.step)) slowest = task;
  }
  return slowest;
}
