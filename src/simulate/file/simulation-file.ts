import { DocumentError, documentError } from '../../wire/document-error.ts';
import { guardDocument } from '../../wire/document-guard.ts';
import { excerptOf, readText } from '../../wire/parse-file.ts';
import { readTable } from '../../wire/read-table.ts';
import { type Moment, moment, simulationKeys, simulationTable } from '../../wire/simulation-table.ts';
import type { NodeGroup, TracedJob, Work } from '../plan.ts';
import { readNodes, toGroups, type WrittenNodes } from './read-nodes.ts';
import { readTrace, readTraceColumns, toTracedJobs, type WrittenTrace } from './read-trace.ts';
import { readWork, toWork, type WrittenWork } from './read-work.ts';

/** What a file says; each part may be absent. Times are milliseconds after the start. */
export interface SimulationFile {
  readonly startMs: number | null;
  readonly untilMs: number | null;
  readonly seed: number | null;
  readonly nodes: readonly NodeGroup[];
  readonly work: readonly Work[];
  readonly trace: readonly TracedJob[];
}

/** Reads the text of a file that the file names: a trace. */
export type ReadOther = (path: string) => Promise<string>;

/**
 * Reads the file of `yard simulate`, TOML or JSON: `[[nodes]]`, `[[jobs]]`, `workload = "trace.csv"`. Throws a
 * DocumentError with the line that is wrong.
 */
export async function parseSimulationFile(
  text: string,
  fileName: string,
  readOther: ReadOther,
): Promise<SimulationFile> {
  try {
    return await read(readText(text, fileName), fileName, readOther);
  } catch (error) {
    if (!(error instanceof DocumentError) || error.excerpt !== null) throw error;
    throw new DocumentError(error.refusal, error.keyPath, await excerptOf(text, fileName, error.keyPath));
  }
}

async function read(document: unknown, fileName: string, readOther: ReadOther): Promise<SimulationFile> {
  const table = openTable(document, fileName);
  const start = table.start === undefined ? null : readStart(table.start);
  const nodes = readNodes(table.nodes);
  const jobs = readWork(table.jobs, fileName);
  const columns = readTraceColumns(table.columns);
  const trace =
    table.workload === undefined ? null : readTrace(await readOther(table.workload), table.workload, columns);
  if (table.workload === undefined && table.columns !== undefined) {
    throw documentError(
      'BAD_VALUE',
      '[columns] says how to read a workload, and there is none',
      ['columns'],
      'workload = "trace.csv"',
    );
  }
  const startMs = start ?? earliestDate({ nodes, jobs, trace, until: table.until });
  const after = (written: Moment, path: readonly (string | number)[]): number => resolve(written, startMs, path);
  return {
    startMs,
    untilMs: table.until === undefined ? null : after(table.until, ['until']),
    seed: table.seed ?? null,
    nodes: toGroups(nodes, after),
    work: jobs.map((one) => toWork(one, after, table.until !== undefined)),
    trace: trace === null ? [] : toTracedJobs(trace, after),
  };
}

function openTable(document: unknown, fileName: string) {
  const table = guardDocument(document, fileName);
  if (typeof table !== 'object' || table === null || Array.isArray(table)) {
    throw documentError('BAD_REQUEST', `${fileName} is no table of keys`, [], 'it has [[nodes]] and [[jobs]]');
  }
  const unknown = Object.keys(table).find((key) => !simulationKeys.includes(key));
  if (unknown !== undefined) {
    const hint = `the keys here are ${simulationKeys.join(', ')}`;
    throw documentError('UNKNOWN_KEY', `unknown key "${unknown}" at the top of the file`, [unknown], hint);
  }
  return rooted(() => readTable(simulationTable, table, 'the top of the file'));
}

/** Keys at the top stand in no table. */
function rooted<Result>(readIt: () => Result): Result {
  try {
    return readIt();
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    const path = error.keyPath.slice(1);
    const message = error.message.replace(' in [the top of the file]', '');
    throw new DocumentError({ ...error.refusal, message, path: path.join('.') }, path);
  }
}

function readStart(written: string): number {
  const read = moment.safeDecode(written);
  if (read.success && read.data.kind === 'date') return read.data.ms;
  throw documentError(
    'BAD_VALUE',
    `start is ${JSON.stringify(written)}; expected a time such as "2026-12-01T08:00:00Z"`,
    ['start'],
  );
}

/** Where no start is written, the earliest date of the file is it; a file without dates has none. */
function earliestDate(parts: {
  readonly nodes: readonly WrittenNodes[];
  readonly jobs: readonly WrittenWork[];
  readonly trace: WrittenTrace | null;
  readonly until: Moment | undefined;
}): number | null {
  let earliest: number | null = null;
  const look = (written: Moment | undefined): void => {
    if (written?.kind === 'date') earliest = Math.min(earliest ?? written.ms, written.ms);
  };
  look(parts.until);
  for (const { from, until } of parts.nodes) {
    look(from);
    look(until);
  }
  for (const { table } of parts.jobs) look(table.at);
  for (const { at } of parts.trace?.rows ?? []) look(at);
  return earliest;
}

function resolve(written: Moment, startMs: number | null, path: readonly (string | number)[]): number {
  if (written.kind === 'after') return written.ms;
  const afterMs = written.ms - (startMs ?? written.ms);
  if (afterMs >= 0) return afterMs;
  const [time, start] = [written.ms, startMs ?? 0].map((ms) => new Date(ms).toISOString());
  throw documentError('RANGE', `${path.join('.')} is ${time}, which is before the start at ${start}`, path);
}
