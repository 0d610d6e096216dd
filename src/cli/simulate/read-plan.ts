import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parseDurationMs } from '../../core/units.ts';
import { parseSimulationFile, type ReadOther, type SimulationFile } from '../../simulate/file/simulation-file.ts';
import { presentCluster } from '../../simulate/history/present-cluster.ts';
import type { NodeGroup, Plan } from '../../simulate/plan.ts';
import { parseMoment } from '../../wire/simulation-table.ts';
import { type Context, flagOption, type Invocation, type Options, textOption } from '../context.ts';
import { decodeText } from '../request/decode-text.ts';
import { UsageError } from '../usage-error.ts';
import { readHistory } from './read-history.ts';

/** What is to be simulated: a FILE, or what this control plane has done, on the cluster that is named or is there. */
export async function readPlan(context: Context, { args, options }: Invocation): Promise<Plan> {
  const [file] = args;
  const work = await readWork(context, file, options);
  const cluster = textOption(options, 'cluster');
  const nodes = cluster === undefined ? work.nodes : await readCluster(context, cluster);
  const [groups, note] = nodes.length > 0 ? [nodes, []] : await thisCluster(context);
  const seed = readSeed(options) ?? work.seed ?? 1;
  const untilMs = readUntil(options, work.startMs) ?? work.untilMs;
  return { ...work, nodes: groups, seed, untilMs, notes: [...work.notes, ...note] };
}

type Read = SimulationFile & Pick<Plan, 'title' | 'notes'>;

async function readWork(context: Context, file: string | undefined, options: Options): Promise<Read> {
  if (flagOption(options, 'history')) {
    if (file !== undefined) {
      const hint = `another cluster: yard simulate --history --cluster ${file}`;
      throw new UsageError('--history and a FILE exclude each other', hint);
    }
    return readHistory(context, textOption(options, 'since'));
  }
  if (textOption(options, 'since') !== undefined) {
    throw new UsageError('--since goes with --history', 'yard simulate --history --since 7d');
  }
  if (file === undefined) {
    const hint = 'yard simulate FILE, or what was done here: yard simulate --history';
    throw new UsageError('there is nothing to simulate', hint);
  }
  const read = await readSimulation(context, file);
  if (read.work.length === 0 && read.trace.length === 0) {
    throw new UsageError(
      `${file} has no work`,
      'add [[jobs]] or workload = "trace.csv"; a cluster alone goes with --cluster',
    );
  }
  return { ...read, title: file === '-' ? 'stdin' : file, notes: [] };
}

async function readCluster(context: Context, file: string): Promise<readonly NodeGroup[]> {
  const { nodes } = await readSimulation(context, file);
  if (nodes.length === 0)
    throw new UsageError(`${file} has no [[nodes]]`, 'a cluster is [[nodes]] with cpus, memory and gpus');
  return nodes;
}

async function readSimulation(context: Context, file: string): Promise<SimulationFile> {
  const path = file === '-' ? context.cwd : resolve(context.cwd, file);
  const directory = file === '-' ? context.cwd : dirname(path);
  const other: ReadOther = (name) => readText(resolve(directory, name), name);
  const text = file === '-' ? await context.readStdin() : await readText(path, file);
  return parseSimulationFile(text, file === '-' ? 'stdin' : file, other);
}

async function readText(path: string, name: string): Promise<string> {
  try {
    return decodeText(await readFile(path), name);
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && (cause.code === 'ENOENT' || cause.code === 'EISDIR')) {
      throw new UsageError(`there is no file ${name}`, `it was looked for as ${path}`);
    }
    throw cause;
  }
}

async function thisCluster(context: Context): Promise<readonly [readonly NodeGroup[], readonly string[]]> {
  const client = await context.client();
  const groups = presentCluster(await client.nodes.list());
  if (groups.length > 0) return [groups, ['on the nodes that are ready here now']];
  throw new UsageError(
    'there is no cluster to simulate',
    'add [[nodes]], name a --cluster FILE, or start a node: yard up',
  );
}

function readSeed(options: Options): number | null {
  const typed = textOption(options, 'seed');
  if (typed === undefined) return null;
  if (/^\d{1,10}$/.test(typed) && Number(typed) < 2 ** 32) return Number(typed);
  throw new UsageError(`--seed is ${JSON.stringify(typed)}; expected a whole number below 2^32`);
}

function readUntil(options: Options, startMs: number | null): number | null {
  const typed = textOption(options, 'until');
  if (typed === undefined) return null;
  const moment = parseMoment(typed);
  if (moment?.kind === 'after' && moment.ms > 0) return moment.ms;
  if (moment?.kind === 'date' && startMs !== null && moment.ms > startMs) return moment.ms - startMs;
  const date = startMs === null ? '' : `, or a time after ${new Date(startMs).toISOString()}`;
  throw new UsageError(`--until is ${JSON.stringify(typed)}; expected a duration such as 7d${date}`);
}

/** `10m` ago, or a date; wall clock. */
export function readSinceMs(typed: string, nowMs: number): number {
  const agoMs = parseDurationMs(typed);
  if (agoMs !== null) return nowMs - agoMs;
  const atMs = Date.parse(typed);
  if (!Number.isNaN(atMs)) return atMs;
  throw new UsageError(`--since is ${JSON.stringify(typed)}; expected a duration such as 7d, or a date`);
}
