import type { JobView } from '../../core/job/view.ts';
import { describeDuration } from '../../core/units.ts';
import { outputsTable } from '../commands/outputs.ts';
import { layoutTable } from '../output/table.ts';
import { describeAge } from './age.ts';
import { whyOf } from './jobs-table.ts';

const mostTasks = 20;

/** One job in full, for a person. */
export function jobInFull(view: JobView, nowMs: number, width: number | null): string {
  const facts: (readonly [string, string] | null)[] = [
    ['state', [view.state, view.outcome?.message ?? whyOf(view)].filter(Boolean).join('  ')],
    ['submitted', `${view.submittedAt} by ${view.owner} (${describeAge(nowMs - Date.parse(view.submittedAt))} ago)`],
    view.startedAt === null ? null : ['started', view.startedAt],
    view.startedAt === null || view.endedAt === null
      ? null
      : ['took', describeDuration(Date.parse(view.endedAt) - Date.parse(view.startedAt))],
    ['attempt', String(view.attempt)],
    supervisionFact(view),
    view.service === null ? null : ['service', `${view.service}, replica ${view.replica ?? 0}`],
    view.profile === null ? null : ['profile', view.profile],
    view.retryOf === null ? null : ['retry of', view.retryOf],
    ['project', view.project],
  ];
  const lines = facts.filter((fact) => fact !== null).map(([key, value]) => `  ${key.padEnd(11)}${value}`);
  const parts = [`${view.id}\n${lines.join('\n')}`];
  if (view.tasks.length > 0) parts.push(tasksTable(view, width));
  if (view.outputs.length > 0) parts.push(outputsTable(view.outputs, width));
  return parts.join('\n\n');
}

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
