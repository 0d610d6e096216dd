import type { Fact } from '../../core/fact.ts';
import type { JobView } from '../../core/job/view.ts';
import type { PartialSettings } from '../../core/profile/settings.ts';
import { isSuccess } from '../../core/reason.ts';
import type { TracedJob } from '../plan.ts';

/** When each part of an array was placed and ended, by `job.index`; wall clock. */
export type PartTimes = ReadonlyMap<string, { readonly fromMs: number; readonly toMs: number | null }>;

export interface PastWork {
  /** Wall clock of the first submission, Unix milliseconds; null where there is none. */
  readonly startMs: number | null;
  readonly jobs: readonly TracedJob[];
  /** What was left out or guessed, for people. */
  readonly notes: readonly string[];
}

/**
 * What a control plane has done, as work to do again: each job comes when it came, needs what it needed, and takes as
 * long as it took. Replicas of services are jobs like any other (X30). What runs still is taken to end now, and what
 * never ran to take as long as others of its name.
 */
export function pastWork(views: readonly JobView[], times: PartTimes, nowMs: number): PastWork {
  const ran = views.filter(({ startedAt }) => startedAt !== null);
  const typical = typicalByName(ran, nowMs);
  const known = views.filter((view) => view.startedAt !== null || typical.has(view.name));
  const startMs = known.reduce<number | null>((least, view) => {
    const atMs = Date.parse(view.submittedAt);
    return least === null || atMs < least ? atMs : least;
  }, null);
  const jobs = known
    .map((view) => tracedJob(view, { times, nowMs, startMs: startMs ?? 0, typicalMs: typical.get(view.name) ?? 0 }))
    .sort((a, b) => a.atMs - b.atMs);
  return { startMs, jobs, notes: notesOn(views, known) };
}

/** Keeps the times of parts, from the facts of the log. */
export function notePartTime(
  times: Map<string, { fromMs: number; toMs: number | null }>,
  fact: Fact,
  atMs: number,
): void {
  if (fact.kind === 'AttemptPlaced') times.set(`${fact.job}.${fact.index}`, { fromMs: atMs, toMs: null });
  if (fact.kind !== 'AttemptEnded') return;
  const known = times.get(`${fact.job}.${fact.index}`);
  if (known !== undefined) known.toMs = atMs;
}

function tracedJob(
  view: JobView,
  known: { times: PartTimes; nowMs: number; startMs: number; typicalMs: number },
): TracedJob {
  const { outcome, settings } = view;
  const parts = settings.array?.size ?? 1;
  const wholeMs = ranMs(view, known.nowMs) ?? known.typicalMs;
  const runsMs = Array.from({ length: parts }, (_, index) => {
    const part = settings.array === null ? undefined : known.times.get(`${view.id}.${index}`);
    return part === undefined ? wholeMs : Math.max(0, (part.toMs ?? known.nowMs) - part.fromMs);
  });
  return {
    name: view.name,
    atMs: Math.max(0, Date.parse(view.submittedAt) - known.startMs),
    layers: [{ origin: view.id, values: onceMore(settings) }],
    runsMs,
    exitCode: outcome === null || isSuccess(outcome) || settings.array !== null ? 0 : (outcome.exitCode ?? 1) || 1,
  };
}

/** Its time includes its restarts and attempts: it runs once. */
function onceMore({ nodes, resources, array, priority, onNodeLoss, graceMs }: JobView['settings']): PartialSettings {
  return { nodes, resources, array, priority, onNodeLoss, graceMs };
}

function typicalByName(views: readonly JobView[], nowMs: number): ReadonlyMap<string, number> {
  const byName = new Map<string, number[]>();
  for (const view of views) byName.set(view.name, [...(byName.get(view.name) ?? []), ranMs(view, nowMs) ?? 0]);
  return new Map([...byName].map(([name, all]) => [name, all.sort((a, b) => a - b)[all.length >>> 1] ?? 0]));
}

function ranMs({ startedAt, endedAt }: JobView, nowMs: number): number | null {
  if (startedAt === null) return null;
  return Math.max(0, (endedAt === null ? nowMs : Date.parse(endedAt)) - Date.parse(startedAt));
}

function notesOn(views: readonly JobView[], known: readonly JobView[]): readonly string[] {
  const running = known.filter(({ startedAt, endedAt }) => startedAt !== null && endedAt === null).length;
  const guessed = known.filter(({ startedAt }) => startedAt === null).length;
  const left = views.length - known.length;
  const notes: string[] = [];
  if (running > 0) notes.push(`${count(running)} still running: taken to end now`);
  if (guessed > 0) notes.push(`${count(guessed)} never ran: taken to run as long as others of the name`);
  if (left > 0) notes.push(`${count(left)} left out: nothing of the name ever ran`);
  return notes;
}

function count(jobs: number): string {
  return jobs === 1 ? '1 job' : `${jobs} jobs`;
}
