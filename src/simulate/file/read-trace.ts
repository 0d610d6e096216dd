import { checkSettings } from '../../core/job/check-spec.ts';
import { mergeSettings, type PartialSettings } from '../../core/profile/settings.ts';
import { parseDurationMs, parseSizeMiB } from '../../core/units.ts';
import { nameOfCommand } from '../../wire/command-document.ts';
import { DocumentError, documentError, type KeyPath } from '../../wire/document-error.ts';
import { readTable } from '../../wire/read-table.ts';
import { columnsTable, type Moment, parseMoment } from '../../wire/simulation-table.ts';
import { showValue } from '../../wire/write-value.ts';
import type { TracedJob } from '../plan.ts';
import { type Cells, excerptOfLine, readCells } from './read-cells.ts';

const columnNames = ['at', 'runs', 'name', 'gpus', 'gpuType', 'cpus', 'memory', 'nodes', 'priority', 'exit'] as const;
type Column = (typeof columnNames)[number];

/** What each column is called in the trace; its own name unless the file says otherwise. */
export type Columns = Readonly<Record<Column, string>>;

export interface WrittenTrace {
  readonly fileName: string;
  readonly rows: readonly WrittenJob[];
}

interface WrittenJob extends Omit<TracedJob, 'atMs'> {
  readonly at: Moment;
}

export function readTraceColumns(written: unknown): Columns {
  const given = written === undefined ? {} : readTable(columnsTable, written, 'columns');
  const pairs = columnNames.map((column) => [column, given[column] ?? column]);
  return Object.fromEntries(pairs) as Record<Column, string>;
}

/** The jobs of a trace: CSV with a head, or an object a line. Throws a DocumentError with the line that is wrong. */
export function readTrace(text: string, fileName: string, columns: Columns): WrittenTrace {
  const rows: WrittenJob[] = [];
  for (const { cells, line, source } of readCells(text, fileName)) {
    const wrong = (column: Column, expected: string): DocumentError => {
      const key = columns[column];
      const found = cells[key];
      const message =
        found === undefined
          ? `${fileName} has no column "${key}"`
          : `${key} is ${showValue(found)}; expected ${expected}`;
      const hint = found === undefined ? `add it, or say which it is: columns = { ${column} = "…" }` : null;
      const { refusal, keyPath } = documentError(
        found === undefined ? 'MISSING_KEY' : 'BAD_VALUE',
        message,
        ['workload'],
        hint,
      );
      return new DocumentError(refusal, keyPath, excerptOfLine({ source, fileName, line }));
    };
    rows.push(readRow({ cells, columns, fileName, wrong }));
  }
  return { fileName, rows };
}

/** By arrival; those that came together stay in the order of the file. */
export function toTracedJobs(
  { rows }: WrittenTrace,
  after: (moment: Moment, path: KeyPath) => number,
): readonly TracedJob[] {
  const jobs = rows.map(({ at, ...job }) => ({ ...job, atMs: after(at, ['workload']) }));
  return jobs.sort((a, b) => a.atMs - b.atMs);
}

interface Row {
  readonly cells: Cells;
  readonly columns: Columns;
  readonly fileName: string;
  readonly wrong: (column: Column, expected: string) => DocumentError;
}

function readRow(row: Row): WrittenJob {
  const { cells, columns, fileName, wrong } = row;
  const at = momentOf(cells[columns.at]);
  if (at === null) throw wrong('at', 'a time, Unix seconds, or seconds after the start');
  const runsMs = durationOf(cells[columns.runs]);
  if (runsMs === null) throw wrong('runs', 'seconds, or a duration such as "2h"');
  const name = nameOfCommand([String(cells[columns.name] ?? '') || 'job']);
  const values = settingsOf(row);
  const layers = [{ origin: fileName, values }];
  const refusal = checkSettings(mergeSettings(layers).settings);
  if (refusal !== null) {
    const column = columnNames.find((one) => refusal.path?.endsWith(`.${one}`) === true) ?? 'gpus';
    throw wrong(column, refusal.message.replace(/^.*expected /, ''));
  }
  const exitCode = numberOf(cells[columns.exit]) ?? 0;
  if (!Number.isInteger(exitCode) || exitCode < 0 || exitCode > 255) throw wrong('exit', 'an exit code');
  return { name, at, layers, runsMs: [runsMs], exitCode };
}

function settingsOf({ cells, columns, wrong }: Row): PartialSettings {
  const count = (column: Column): number | undefined => {
    const cell = cells[columns[column]];
    if (cell === undefined || cell === '') return undefined;
    const value = numberOf(cell);
    if (value === null) throw wrong(column, 'a number');
    return value;
  };
  const memory = cells[columns.memory];
  const memoryMiB = memory === undefined || memory === '' ? undefined : sizeOf(memory);
  if (memoryMiB === null) throw wrong('memory', 'GiB, or a size such as "16GiB"');
  const gpuType = cells[columns.gpuType];
  const [gpus, cpus, nodes, priority] = [count('gpus'), count('cpus'), count('nodes'), count('priority')];
  const resources = {
    ...(gpus === undefined ? {} : { gpus }),
    ...(cpus === undefined ? {} : { cpus }),
    ...(memoryMiB === undefined ? {} : { memoryMiB }),
    ...(gpuType === undefined || gpuType === '' ? {} : { gpuType: String(gpuType) }),
  };
  return { resources, ...(nodes === undefined ? {} : { nodes }), ...(priority === undefined ? {} : { priority }) };
}

const unixSince = 1e8;

/** Seconds are after the start while they are few, and Unix time when they are many. */
function momentOf(cell: Cells[string] | undefined): Moment | null {
  const seconds = numberOf(cell);
  if (seconds === null) return typeof cell === 'string' ? parseMoment(cell.trim()) : null;
  if (seconds < 0) return null;
  const inMs = seconds >= unixSince * 1000;
  const ms = Math.round(inMs ? seconds : seconds * 1000);
  return { kind: ms >= unixSince * 1000 ? 'date' : 'after', ms };
}

function durationOf(cell: Cells[string] | undefined): number | null {
  const seconds = numberOf(cell);
  if (seconds !== null) return seconds >= 0 && seconds <= 3.2e8 ? Math.round(seconds * 1000) : null;
  return typeof cell === 'string' ? parseDurationMs(cell.trim()) : null;
}

function sizeOf(cell: Cells[string]): number | null {
  const gib = numberOf(cell);
  if (gib !== null) return Math.ceil(gib * 1024);
  return typeof cell === 'string' ? parseSizeMiB(cell.trim()) : null;
}

function numberOf(cell: Cells[string] | undefined): number | null {
  if (typeof cell === 'number') return Number.isFinite(cell) ? cell : null;
  return typeof cell === 'string' && /^\s*-?\d+(\.\d+)?(e[+-]?\d+)?\s*$/i.test(cell) ? Number(cell) : null;
}
