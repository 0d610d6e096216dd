import type { JobView } from '../../core/job/view.ts';
import { describeDuration } from '../../core/units.ts';
import { outputsTable } from '../commands/outputs.ts';
import { layoutTable } from '../output/table.ts';
import { describeAge } from './age.ts';
import { whyOf } from './jobs-table.ts';

const mostTasks = 20;

/** One job in full, for a person; or one part of it, which `part` names. */
export function jobInFull(view: JobView, nowMs: number, width: number | null, part: number | null = null): string {
  // The times are those of the whole job.
  const { startedAt, endedAt } = part !== null && view.array !== null ? untold : view;
  const facts: (readonly [string, string] | null)[] = [
    [
      'state',
      [view.state, view.outcome?.message ?? whyOf(part === null ? view : { ...view, array: null })]
        .filter(Boolean)
        .join('  '),
    ],
    ['submitted', `${view.submittedAt} by ${view.owner} (${describeAge(nowMs - Date.parse(view.submittedAt))} ago)`],
    startedAt === null ? null : ['started', startedAt],
    startedAt === null || endedAt === null
      ? null
      : ['took', describeDuration(Date.parse(endedAt) - Date.parse(startedAt))],
    ['attempt', String(view.attempt)],
    supervisionFact(view),
    view.service === null ? null : ['service', `${view.service}, replica ${view.replica ?? 0}`],
    view.profile === null ? null : ['profile', view.profile],
    view.retryOf === null ? null : ['retry of', view.retryOf],
    ['project', view.project],
  ];
  const lines = facts.filter((fact) => fact !== null).map(([key, value]) => `  ${key.padEnd(11)}${value}`);
  const parts = [`${part === null ? view.id : `${view.id}/${part}`}\n${lines.join('\n')}`];
  if (view.tasks.length > 0) parts.push(tasksTable(view, width));
  if (view.outputs.length > 0) parts.push(outputsTable(view.outputs, width));
  return parts.join('\n\n');
}

const untold = { startedAt: null, endedAt: null };

/** Of work that is restarted: how often it was, and after what (X7). */
function supervisionFact({ settings, tasks }: JobView): readonly [string, string] | null {
  if (settings.restart.policy === 'never') return null;
  const restarts = tasks.reduce((sum, task) => sum + task.restarts, 0);
  const failure = tasks.find((task) => task.lastFailure !== null)?.lastFailure ?? null;
  return ['restarts', failure === null ? String(restarts) : `${restarts}, last: ${failure}`];
}

function tasksTable(view: JobView, width: number | null): string {
  const shown = view.tasks.slice(0, mostTasks);
  const rows = shown.map((task) => [
    String(task.index ?? task.rank),
    task.node,
    String(task.attempt),
    task.step,
    task.devices.length === 0 ? '–' : String(task.devices.length),
    task.endpoint ?? '–',
    task.outcome?.message ?? task.lastFailure ?? '',
  ]);
  const table = layoutTable(['TASK', 'NODE', 'ATTEMPT', 'STEP', 'GPUS', 'ENDPOINT', 'OUTCOME'], rows, width);
  const rest = view.tasks.length - shown.length;
  return rest === 0 ? table : `${table}\n… and ${rest} more (--json shows all)`;
}
