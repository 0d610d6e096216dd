import type { Settings } from '../profile/settings.ts';
import type { Outcome } from '../reason.ts';
import type { JobState, Step, StepNeeds } from './lifecycle.ts';
import type { JobSpec, WorkspaceRef } from './spec.ts';

export type JobId = string;

/** One task of one attempt: the fence. Whoever speaks for an older attempt is refused. */
export interface TaskKey {
  readonly job: JobId;
  /** Array index; 0 for a job that is no array. */
  readonly index: number;
  readonly rank: number;
  /** From 1; shared by the ranks. */
  readonly attempt: number;
}

export function taskKeyText(key: TaskKey): string {
  return `${key.job}.${key.index}.${key.rank}.${key.attempt}`;
}

export function parseTaskKey(text: string): TaskKey | null {
  const parts = /^([a-z0-9-]+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text);
  if (parts?.[1] === undefined) return null;
  return { job: parts[1], index: Number(parts[2]), rank: Number(parts[3]), attempt: Number(parts[4]) };
}

/** A job that has not been archived. An array is one job with many elements; any other job has one, index 0. */
export interface Job {
  readonly id: JobId;
  readonly name: string;
  readonly project: string;
  readonly owner: string;
  /** Place in the order of submission. */
  readonly order: number;
  /** Wall clock, Unix milliseconds. */
  readonly submittedAtMs: number;
  readonly spec: JobSpec;
  /** The document as it was submitted, for people. */
  readonly source: unknown;
  readonly settings: Settings;
  readonly origins: Readonly<Record<string, string>>;
  readonly profile: string | null;
  readonly workspace: WorkspaceRef | null;
  readonly retryOf: JobId | null;
  /** The service it is a replica of; null for any other job. */
  readonly service: ReplicaOf | null;
  /** The array indices it runs; null for all of them. */
  readonly indices: readonly number[] | null;
  /** Every position before it has been placed or ended at least once. */
  cursor: number;
  /** Elements that were touched, by array index. */
  readonly elements: Map<number, Element>;
  /** Indices that wait for another attempt. */
  readonly requeued: Set<number>;
  live: number;
  completed: number;
  failed: number;
  startedAtMs: number | null;
  endedAtMs: number | null;
  outcome: Outcome | null;
}

/** Which replica of which service a job is. */
export interface ReplicaOf {
  readonly name: string;
  readonly index: number;
  readonly revision: number;
}

export type Element =
  /** Waits for another attempt; `attempt` is the last one. */
  | {
      readonly kind: 'pending';
      readonly attempt: number;
      readonly notBeforeMs: number;
      readonly lastFailure: string | null;
      readonly tasks: Task[];
      /** A person wants the next attempt, though something of the last may still run. */
      retryAsked: boolean;
    }
  | LiveElement
  | {
      readonly kind: 'ended';
      readonly attempt: number;
      readonly outcome: Outcome;
      readonly tasks: Task[];
      readonly endedAtMs: number;
    };

export interface LiveElement {
  readonly kind: 'live';
  readonly attempt: number;
  readonly tasks: Task[];
  /** How it will end: set by the first cause, never changed. */
  verdict: Outcome | null;
  /** Set with a verdict that a process may outlive. */
  stop: { readonly graceMs: number } | null;
  /** It was told to stop, before or after its verdict: no attempt follows. */
  stopAsked: boolean;
  /** A person wants the next attempt without the lost node. */
  retryAsked: boolean;
  readonly lastFailure: string | null;
}

export interface Task {
  readonly rank: number;
  readonly node: string;
  readonly devices: readonly string[];
  readonly cpus: number;
  readonly memoryMiB: number;
  step: Step;
  /** The node has begun with it: what it knows is more than that it was placed. */
  begun: boolean;
  /** The step's process was seen started. */
  started: boolean;
  /** The node has told how its last process ended: nothing of it is left there. */
  exited: boolean;
  port: number | null;
  endpoint: string | null;
  /** Null until the node has said; then whether it is ready to serve. */
  ready: boolean | null;
  /** Why it is not ready, as the node last told. */
  notReady: string | null;
  restarts: number;
  lastFailure: string | null;
  exitCode: number | null;
  signal: number | null;
  outputs: readonly Output[];
  /** Manifest blob of what was collected. */
  outputsManifest: string | null;
}

export interface Output {
  readonly path: string;
  readonly state: 'collected' | 'missing' | 'refused';
  readonly sizeBytes: number | null;
  readonly why: string | null;
}

/** How many elements the job has in all. */
export function elementCount(job: Job): number {
  return job.indices?.length ?? job.settings.array?.size ?? 1;
}

/** The array index at a position. */
export function indexAt(job: Job, position: number): number {
  return job.indices === null ? position : (job.indices[position] ?? -1);
}

/** Moves the cursor past what has been touched. */
export function advanceCursor(job: Job): void {
  const count = elementCount(job);
  while (job.cursor < count && job.elements.has(indexAt(job, job.cursor))) job.cursor += 1;
}

export function hasPending(job: Job): boolean {
  return job.outcome === null && (job.cursor < elementCount(job) || job.requeued.size > 0);
}

export function stepNeeds(job: Job): StepNeeds {
  return {
    workspace: job.workspace !== null,
    setup: job.spec.setup !== null,
    barrier: job.settings.nodes > 1,
    outputs: job.spec.outputs.length > 0,
  };
}

/**
 * The state that people see. A task that only claims its node leaves the job pending (S3); between the end of its last
 * attempt and its own, in the same step, a job that ran is still running.
 */
export function jobState(job: Job): JobState {
  if (job.outcome !== null) return job.outcome.reason === 'exit' && job.outcome.exitCode === 0 ? 'COMPLETED' : 'FAILED';
  if (job.live > 0) {
    for (const element of job.elements.values()) {
      if (element.kind === 'live' && element.tasks.some((task) => task.step !== 'claimed')) return 'RUNNING';
    }
  }
  const isOver = job.startedAtMs !== null && job.completed + job.failed === elementCount(job);
  return isOver ? 'RUNNING' : 'PENDING';
}

export function findTask(job: Job | undefined, key: TaskKey): { element: LiveElement; task: Task } | null {
  const element = job?.elements.get(key.index);
  if (element?.kind !== 'live' || element.attempt !== key.attempt) return null;
  const task = element.tasks[key.rank];
  return task === undefined ? null : { element, task };
}
