import { whyWaiting } from '../placement/waiting.ts';
import type { Settings } from '../profile/settings.ts';
import type { Outcome, Waiting } from '../reason.ts';
import type { State } from '../state.ts';
import { type Element, elementCount, indexAt, type Job, jobState, type Output, type Task } from './job.ts';
import type { JobState, Step } from './lifecycle.ts';

/** A job as `--json`, the API and the SDK show it. */
export interface JobView {
  readonly id: string;
  readonly name: string;
  readonly kind: 'job' | 'service';
  readonly project: string;
  readonly queue: string;
  readonly owner: string;
  readonly profile: string | null;
  readonly service: string | null;
  readonly replica: number | null;
  readonly retryOf: string | null;
  readonly state: JobState;
  readonly waiting: Waiting | null;
  readonly outcome: Outcome | null;
  readonly attempt: number;
  readonly submittedAt: string;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly spec: unknown;
  readonly settings: Settings;
  readonly origins: Readonly<Record<string, string>>;
  /** Counts of an array's elements; null for any other job. */
  readonly array: ArrayView | null;
  readonly tasks: readonly TaskView[];
  readonly outputs: readonly OutputView[];
}

export interface ArrayView {
  readonly size: number;
  readonly pending: number;
  readonly running: number;
  readonly completed: number;
  readonly failed: number;
}

export interface TaskView {
  /** Array index; null where the job is no array. */
  readonly index: number | null;
  readonly rank: number;
  readonly node: string;
  readonly attempt: number;
  readonly step: Step;
  readonly devices: readonly string[];
  readonly endpoint: string | null;
  readonly ready: boolean | null;
  readonly notReady: string | null;
  readonly restarts: number;
  readonly lastFailure: string | null;
  readonly exitCode: number | null;
  readonly signal: number | null;
  readonly outcome: Outcome | null;
}

export interface OutputView {
  /** Array index or rank it belongs to; null where the job has one task. */
  readonly index: number | null;
  readonly path: string;
  readonly state: Output['state'];
  readonly size?: number;
  readonly why?: string;
}

/** `tasks` and `outputs` are left empty without `full`: a list of jobs needs neither. */
export function viewJob(state: State, job: Job, nowMs: number, options: { full: boolean } = { full: true }): JobView {
  const { id, name, project, owner, profile, retryOf, settings, origins } = job;
  const several = settings.array !== null;
  return {
    id,
    name,
    kind: settings.kind,
    project,
    queue: 'default',
    owner,
    profile,
    service: job.service?.name ?? null,
    replica: job.service?.index ?? null,
    retryOf,
    state: jobState(job),
    waiting: whyWaiting(state, job, nowMs),
    outcome: job.outcome,
    attempt: lastAttempt(job),
    submittedAt: iso(job.submittedAtMs),
    startedAt: job.startedAtMs === null ? null : iso(job.startedAtMs),
    endedAt: job.endedAtMs === null ? null : iso(job.endedAtMs),
    spec: job.source,
    settings,
    origins,
    array: several ? viewArray(job) : null,
    tasks: options.full
      ? [...elements(job)].flatMap(([index, element]) => viewTasks(several ? index : null, element))
      : [],
    outputs: options.full
      ? [...elements(job)].flatMap(([index, element]) => viewOutputs(several ? index : null, element))
      : [],
  };
}

/** Touched elements in the order of their indices. */
function* elements(job: Job): Generator<[number, Element]> {
  for (let position = 0; position < elementCount(job); position += 1) {
    const index = indexAt(job, position);
    const element = job.elements.get(index);
    if (element !== undefined) yield [index, element];
  }
}

function viewArray(job: Job): ArrayView {
  const { live, completed, failed } = job;
  const size = elementCount(job);
  return { size, pending: size - live - completed - failed, running: live, completed, failed };
}

function viewTasks(index: number | null, element: Element): readonly TaskView[] {
  return element.tasks.map((task: Task) => ({
    index,
    rank: task.rank,
    node: task.node,
    attempt: element.attempt,
    step: task.step,
    devices: task.devices,
    endpoint: task.endpoint,
    ready: task.ready,
    notReady: task.notReady,
    restarts: task.restarts,
    lastFailure: task.lastFailure ?? ('lastFailure' in element ? element.lastFailure : null),
    exitCode: task.exitCode,
    signal: task.signal,
    outcome: element.kind === 'ended' ? element.outcome : null,
  }));
}

function viewOutputs(index: number | null, element: Element): readonly OutputView[] {
  return element.tasks.flatMap((task) =>
    task.outputs.map((output) => ({
      index: element.tasks.length > 1 ? task.rank : index,
      path: output.path,
      state: output.state,
      ...(output.sizeBytes === null ? {} : { size: output.sizeBytes }),
      ...(output.why === null ? {} : { why: output.why }),
    })),
  );
}

function lastAttempt(job: Job): number {
  let last = 0;
  for (const element of job.elements.values()) last = Math.max(last, element.attempt);
  return last;
}

function iso(atMs: number): string {
  return new Date(atMs).toISOString();
}
