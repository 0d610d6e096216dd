import type { Job, LiveElement, TaskKey } from '../../core/job/job.ts';
import { howItExited } from '../../core/reason.ts';
import { decideRestart, freshHistory, type RestartHistory } from '../../core/supervision/restart.ts';
import type { Draws } from '../draw.ts';
import type { Arrival } from './arrivals.ts';

/** What runs of one attempt, on all of its nodes together. */
export interface Process {
  readonly job: string;
  readonly index: number;
  readonly attempt: number;
  readonly nodes: readonly string[];
  /** What its draws are named by. */
  readonly label: string;
  readonly origin: Arrival;
  /** When this run of it began. */
  startedMs: number;
  /** The attempt's beginning, which its timeout counts from. */
  readonly begunMs: number;
  history: RestartHistory;
}

/** What becomes of a run, and how long it takes until then. */
export type Ending =
  | { readonly kind: 'exit'; readonly afterMs: number; readonly code: number }
  | { readonly kind: 'timeout'; readonly afterMs: number }
  /** It runs for ever. */
  | null;

export function processName({ job, index, attempt }: Pick<TaskKey, 'job' | 'index' | 'attempt'>): string {
  return `${job}.${index}.${attempt}`;
}

export function beginProcess(
  job: Job,
  index: number,
  element: LiveElement,
  origin: { readonly arrival: Arrival; readonly label: string },
  nowMs: number,
): Process {
  return {
    job: job.id,
    index,
    attempt: element.attempt,
    nodes: element.tasks.map((task) => task.node),
    label: `${origin.label}.${index}`,
    origin: origin.arrival,
    startedMs: nowMs,
    begunMs: nowMs,
    history: freshHistory,
  };
}

/** How the run that begins now will end. Its length is drawn once a part: an attempt that was lost takes as long again. */
export function endingOf(process: Process, timeoutMs: number | null, draws: Draws): Ending {
  const exit = exitOf(process, draws);
  const restMs = timeoutMs === null ? null : Math.max(0, process.begunMs + timeoutMs - process.startedMs);
  if (restMs !== null && (exit === null || restMs < exit.afterMs)) return { kind: 'timeout', afterMs: restMs };
  return exit === null ? null : { kind: 'exit', ...exit };
}

function exitOf(process: Process, draws: Draws): { readonly afterMs: number; readonly code: number } | null {
  const { origin, label, attempt, index, history } = process;
  const run = `${attempt}.${history.restarts}`;
  if (origin.kind === 'traced') {
    const { runsMs, exitCode } = origin.job;
    return { afterMs: runsMs[Math.min(index, runsMs.length - 1)] ?? 0, code: exitCode };
  }
  const { runs, exit } = origin.work;
  if (runs === null) return null;
  const restarted = history.restarts === 0 ? '' : `.${history.restarts}`;
  return {
    afterMs: draws.spreadMs(runs, `runs.${label}${restarted}`),
    code: draws.exitCode(exit, `exit.${label}.${run}`),
  };
}

/** What the node does about the end of a run, by the very rules that an agent follows. */
export function afterExit(process: Process, job: Job, code: number, nowMs: number) {
  const end = {
    kind: code === 0 ? 'success' : 'failure',
    stableSinceMs: process.startedMs,
    message: howItExited({ exitCode: code, signal: null }),
  } as const;
  const decision = decideRestart(job.settings.restart, process.history, end, { nowMs, seed: processName(process) });
  if (decision.kind === 'restart') process.history = decision.history;
  return { decision, message: end.message };
}
