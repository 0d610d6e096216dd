import type { UsageGroup, UsageQuery, UsageView } from '../../client/api.ts';
import { parseDay } from '../../core/usage/days.ts';
import { dateForm, usageGroups } from '../../core/usage/view.ts';
import { type Context, type Invocation, type Options, textOption } from '../context.ts';
import { layoutTable } from '../output/table.ts';
import { UsageError } from '../usage-error.ts';

/** Shows what was used of GPUs and cores, in hours. */
export async function execute(context: Context, { options }: Invocation): Promise<number> {
  const query = readQuery(options);
  const usage = await (await context.client()).usage(query);
  context.output.answer(usage, (width) => (usage.rows.length === 0 ? nothing(usage) : usageTable(usage, width)));
  return 0;
}

function readQuery(options: Options): UsageQuery {
  const from = readDate(options, 'from');
  const to = readDate(options, 'to');
  const project = textOption(options, 'project');
  if (from !== undefined && to !== undefined && from > to) {
    throw new UsageError(`--from ${from} is after --to ${to}`, 'they are the first and the last day');
  }
  return {
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    by: readGroup(options),
    ...(project === undefined ? {} : { project }),
  };
}

function readDate(options: Options, name: 'from' | 'to'): string | undefined {
  const typed = textOption(options, name);
  if (typed === undefined || parseDay(typed) !== null) return typed;
  throw new UsageError(
    `--${name} is ${JSON.stringify(typed)}; expected ${dateForm}`,
    'write year, month and day; days are in UTC',
  );
}

function readGroup(options: Options): UsageGroup {
  const typed = textOption(options, 'by') ?? 'project';
  const group = usageGroups.find((one) => one === typed);
  if (group !== undefined) return group;
  throw new UsageError(`--by is ${JSON.stringify(typed)}; expected project, user or day`);
}

function nothing({ from, to, project }: UsageView): string {
  const where = project === null ? '' : ` in project ${project}`;
  const when = from === to ? `on ${from}` : `from ${from} to ${to}`;
  return `no GPU or core time is on record${where} ${when} (UTC); --from reaches back 400 days`;
}

/** Hours to the right, so that they can be compared; the range is in its foot. */
function usageTable({ from, to, by, rows, total }: UsageView, width: number | null): string {
  const shown = [...rows, { ...total, name: 'TOTAL' }].map(({ name, gpuMs, coreMs }) => [
    name,
    hours(gpuMs),
    hours(coreMs),
  ]);
  const table = layoutTable(...rightAligned([by.toUpperCase(), 'GPU HOURS', 'CORE HOURS'], shown), width);
  return `${table}\n${from === to ? from : `${from} to ${to}`} (UTC)`;
}

function rightAligned(
  head: readonly string[],
  rows: readonly (readonly string[])[],
): [head: readonly string[], rows: readonly (readonly string[])[]] {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const align = (row: readonly string[]): readonly string[] =>
    row.map((cell, column) => (column === 0 ? cell : cell.padStart(widths[column] ?? 0)));
  return [align(head), rows.map(align)];
}

function hours(ms: number): string {
  return (ms / 3_600_000).toFixed(2);
}
