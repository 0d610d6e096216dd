import type { WaitReason } from '../core/reason.ts';
import type { KindFigures } from './ledger/kinds.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { Utilisation } from './ledger/usage.ts';
import type { Plan } from './plan.ts';

/** What `yard simulate --json` prints. Durations are milliseconds, times are milliseconds after the start. */
export interface SimulationReport {
  readonly title: string;
  /** When the simulation starts on the calendar; null where its files name no date. */
  readonly start: string | null;
  readonly seed: number;
  readonly nodes: number;
  readonly jobs: number;
  readonly parts: number;
  readonly ended: number;
  /** When the last part ended. */
  readonly makespanMs: number;
  /** How far it went. */
  readonly endMs: number;
  readonly kinds: readonly KindReport[];
  readonly utilisation: { readonly gpus: Utilisation | null; readonly cores: Utilisation };
  /** Most waiting first. */
  readonly waiting: readonly {
    readonly reason: WaitReason;
    /** Of the jobs. */
    readonly name: string;
    /** Hours, summed over all parts that waited. */
    readonly hours: number;
    /** The sentence that held for most of it. */
    readonly message: string;
  }[];
  readonly longestWaits: readonly {
    readonly id: string;
    readonly waitedMs: number;
    /** Null: it never started. */
    readonly startedMs: number | null;
  }[];
  /** What waits at the end, at most a hundred of it. */
  readonly stillWaiting: readonly { readonly id: string; readonly parts: number; readonly message: string | null }[];
  readonly series: ReturnType<Ledger['usage']['series']> & { readonly unit: 'GPUs' | 'cores' };
  readonly notes: readonly string[];
}

/** Figures of all jobs of one name. */
export interface KindReport {
  readonly name: string;
  readonly jobs: number;
  readonly parts: number;
  readonly attempts: number;
  /** From submission to the first start; of those that started. */
  readonly waitedMs: { readonly p50: number; readonly p95: number; readonly max: number };
  /** How long attempts ran. */
  readonly ranMs: { readonly p50: number; readonly p95: number; readonly max: number };
  readonly gpuHours: number;
  readonly coreHours: number;
  /** Parts by how they ended: `ok`, `exit 1`, a reason. */
  readonly ended: Readonly<Record<string, number>>;
  /** Parts that had not ended when the simulation did. */
  readonly unended: number;
}

const hourMs = 3_600_000;
const mostStillWaiting = 100;

export function makeReport(plan: Plan, ledger: Ledger): SimulationReport {
  const kinds = ledger.kinds.all().map(kindReport);
  const sum = (of: (kind: KindReport) => number): number => kinds.reduce((total, kind) => total + of(kind), 0);
  const stillWaiting: SimulationReport['stillWaiting'][number][] = [];
  for (const { job, parts, why } of ledger.waits.stillWaiting()) {
    if (stillWaiting.length === mostStillWaiting) break;
    stillWaiting.push({ id: job, parts, message: why?.message ?? null });
  }
  return {
    title: plan.title,
    start: plan.startMs === null ? null : new Date(plan.startMs).toISOString(),
    seed: plan.seed,
    nodes: plan.nodes.reduce((total, { count }) => total + count, 0),
    jobs: sum(({ jobs }) => jobs),
    parts: sum(({ parts }) => parts),
    ended: ledger.ended,
    makespanMs: ledger.lastEndMs,
    endMs: ledger.usage.nowMs,
    kinds,
    utilisation: ledger.usage.figures(),
    waiting: ledger.waits
      .figures()
      .map(({ reason, name, waitedMs, message }) => ({ reason, name, hours: round(waitedMs / hourMs), message })),
    longestWaits: ledger.longest,
    stillWaiting,
    series: { unit: ledger.usage.countsGpus ? 'GPUs' : 'cores', ...ledger.usage.series() },
    notes: plan.notes,
  };
}

function kindReport(kind: KindFigures): KindReport {
  const { name, jobs, parts, attempts, waited, ran, gpuMs, coreMs } = kind;
  const ended = Object.fromEntries(kind.ended);
  const over = [...kind.ended.values()].reduce((total, count) => total + count, 0);
  return {
    name,
    jobs,
    parts,
    attempts,
    waitedMs: { p50: Math.round(waited.at(0.5)), p95: Math.round(waited.at(0.95)), max: waited.max },
    ranMs: { p50: Math.round(ran.at(0.5)), p95: Math.round(ran.at(0.95)), max: ran.max },
    gpuHours: round(gpuMs / hourMs),
    coreHours: round(coreMs / hourMs),
    ended,
    unended: parts - over,
  };
}

/** Three digits behind the point say enough. */
function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
