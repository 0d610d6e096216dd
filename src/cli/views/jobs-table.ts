import type { JobView } from '../../core/job/view.ts';
import { isSuccess } from '../../core/reason.ts';
import { arrayDetail } from '../follow/narrator.ts';
import { phaseOf } from '../follow/phase.ts';
import { layoutTable } from '../output/table.ts';
import { describeAge } from './age.ts';

const steps: Readonly<Record<string, string>> = {
  materialize: 'unpacking the workspace',
  setup: 'setup',
  collect: 'collecting outputs',
};

export function jobsTable(jobs: readonly JobView[], nowMs: number, width: number | null): string {
  const rows = jobs.map((job) => [
    job.id,
    job.state,
    nodesOf(job),
    String(job.settings.resources.gpus),
    describeAge(nowMs - Date.parse(job.submittedAt)),
    whyOf(job),
  ]);
  return layoutTable(['ID', 'STATE', 'NODE', 'GPUS', 'AGE', 'WHY'], rows, width);
}

function nodesOf(job: JobView): string {
  const nodes = new Set(job.tasks.map((task) => task.node));
  const [first = '–'] = nodes;
  return nodes.size > 1 ? `${nodes.size} nodes` : first;
}

/** Why it waits, how far it is, or how it ended: whatever is not as plain as the state. */
export function whyOf(job: JobView): string {
  const { id, array, outcome, waiting } = job;
  const done =
    array === null ? '' : arrayDetail({ done: array.completed + array.failed, size: array.size, failed: array.failed });
  if (outcome !== null) return isSuccess(outcome) ? done : outcome.message;
  const awaited = waiting?.reason === 'node-lost' ? waiting.message : '';
  if (job.state === 'RUNNING' && array !== null) return [done, awaited].filter(Boolean).join('; ');
  if (awaited !== '') return awaited;
  if (job.state === 'PENDING' && waiting !== null) {
    const todo = waiting.reason === 'no-fit' ? `yard explain ${id}` : waiting.reason === 'no-node' ? 'yard up' : null;
    return todo === null ? waiting.message : `${waiting.message} (${todo})`;
  }
  const notReady = job.tasks.find((task) => task.step === 'run' && task.notReady !== null)?.notReady ?? null;
  if (notReady !== null) return notReady.startsWith('not ready') ? notReady : `not ready: ${notReady}`;
  const phase = phaseOf(job);
  const attempt = job.attempt > 1 ? `attempt ${job.attempt}` : '';
  return [attempt, steps[phase.kind] ?? ''].filter(Boolean).join(', ');
}
