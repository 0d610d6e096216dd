import type { KindReport, SimulationReport } from '../../simulate/report.ts';
import { layoutTable } from '../output/table.ts';

const mostKinds = 20;
const mostReasons = 10;
const leastForEnds = 16;

/** What a simulation found, for people: who waited how long, how full it was, and what was waited for. */
export function simulationTable(report: SimulationReport, width: number | null): string {
  return [
    summary(report),
    kindsTable(report, width),
    usageTable(report, width),
    waitingTable(report, width),
    longestTable(report, width),
    ...report.notes,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function counted(count: number, what: string): string {
  return `${number(count)} ${what}${count === 1 ? '' : 's'}`;
}

function summary({ nodes, jobs, parts, ended, makespanMs, endMs, utilisation, start, seed }: SimulationReport): string {
  const gpus = utilisation.gpus === null ? '' : `, ${counted(utilisation.gpus.capacity, 'GPU')}`;
  const from = start === null ? '' : `, from ${start.slice(0, 16).replace('T', ' ')} UTC`;
  const ofParts = parts === jobs ? '' : ` (${number(parts)} parts)`;
  const open = parts - ended;
  const end = open === 0 ? `all ended after ${span(makespanMs)}` : `${number(open)} not ended after ${span(endMs)}`;
  return `${counted(nodes, 'node')}${gpus}, seed ${seed}${from}\n${counted(jobs, 'job')}${ofParts}: ${end}`;
}

function kindsTable({ kinds }: SimulationReport, width: number | null): string {
  const bySize = [...kinds].sort((a, b) => b.gpuHours - a.gpuHours || b.coreHours - a.coreHours);
  const shown = bySize.slice(0, mostKinds);
  const head = ['JOBS', 'COUNT', 'WAIT p50', 'p95', 'MAX', 'RUN p50', 'GPU·h', 'ENDED'];
  const rows = shown.map((kind) => [
    kind.name,
    number(kind.parts),
    span(kind.waitedMs.p50),
    span(kind.waitedMs.p95),
    span(kind.waitedMs.max),
    span(kind.ranMs.p50),
    number(Math.round(kind.gpuHours)),
    endedText(kind),
  ]);
  const left = kinds.length - shown.length;
  const rest = left > 0 ? `\nand ${number(left)} names more (--json has them all)` : '';
  return figures(head, fitNames(head, rows, width), [1, 2, 3, 4, 5, 6], width) + rest;
}

/** Names give way where a line would not fit: how jobs ended needs some room, too. */
function fitNames(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  width: number | null,
): readonly (readonly string[])[] {
  if (width === null) return rows;
  const between = head
    .slice(1, -1)
    .map((_, column) => Math.max(...[head, ...rows].map((row) => row[column + 1]?.length ?? 0)));
  const taken = between.reduce((sum, one) => sum + one + 2, 2);
  const room = Math.max(8, width - taken - leastForEnds);
  return rows.map(([name = '', ...rest]) => [name.length > room ? `${name.slice(0, room - 1)}…` : name, ...rest]);
}

function endedText({ ended, unended }: KindReport): string {
  const parts = Object.entries(ended)
    .sort(([, a], [, b]) => b - a)
    .map(([how, count]) => `${number(count)} ${how}`);
  if (unended > 0) parts.push(`${number(unended)} not ended`);
  return parts.join(', ');
}

function usageTable({ utilisation }: SimulationReport, width: number | null): string {
  const head = ['USED', 'MEAN', 'p95', 'PEAK', 'OF'];
  const rows = (['gpus', 'cores'] as const).flatMap((key) => {
    const used = utilisation[key];
    if (used === null) return [];
    return [
      [
        key === 'gpus' ? 'GPUs' : 'cores',
        percent(used.mean),
        percent(used.p95),
        percent(used.peak),
        number(used.capacity),
      ],
    ];
  });
  return figures(head, rows, [1, 2, 3], width);
}

function waitingTable({ waiting }: SimulationReport, width: number | null): string {
  const head = ['WAITED FOR', 'HOURS', 'WHO, AND WHY FOR MOST OF IT'];
  const shown = waiting.filter(({ hours }) => hours >= 0.01).slice(0, mostReasons);
  const rows = shown.map(({ reason, name, hours, message }) => {
    return [reason, number(hours < 10 ? Math.round(hours * 100) / 100 : Math.round(hours)), `${name}: ${message}`];
  });
  return rows.length === 0 ? 'nothing waited' : figures(head, rows, [1], width);
}

function longestTable({ longestWaits, stillWaiting }: SimulationReport, width: number | null): string {
  if (longestWaits.length === 0) return '';
  const why = new Map(stillWaiting.map(({ id, message }) => [id, message]));
  const rows = longestWaits
    .slice(0, 5)
    .map(({ id, waitedMs, startedMs }) => [
      id,
      span(waitedMs),
      startedMs === null ? `never${why.get(id) ? `: ${why.get(id)}` : ''}` : `after ${span(startedMs)}`,
    ]);
  const head = ['LONGEST WAITS', '', 'STARTED'];
  return figures(head, rows, [1], width);
}

/** A table whose figures stand one below the other. */
function figures(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  rightAligned: readonly number[],
  width: number | null,
): string {
  const widthOf = (column: number): number => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0));
  const widths = new Map(rightAligned.map((column) => [column, widthOf(column)]));
  const align = (row: readonly string[]): string[] => row.map((cell, column) => cell.padStart(widths.get(column) ?? 0));
  return layoutTable(align(head), rows.map(align), width);
}

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const;

/** Two units at most, as durations are written in files: `9h46m`, `15s`, `–` for none. */
function span(ms: number): string {
  if (ms < 1) return '–';
  if (ms < 10_000) return `${Math.round(ms / 100) / 10}s`;
  const first = units.findIndex(([, unitMs]) => ms >= unitMs);
  const [large, largeMs] = units[first] ?? units[3];
  const small = units[first + 1];
  if (small === undefined) return `${Math.round(ms / largeMs)}${large}`;
  const [smallUnit, smallMs] = small;
  const total = Math.round(ms / smallMs);
  const perLarge = largeMs / smallMs;
  const rest = total % perLarge;
  return `${Math.floor(total / perLarge)}${large}${rest === 0 ? '' : `${rest}${smallUnit}`}`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function number(value: number): string {
  return value.toLocaleString('en');
}
