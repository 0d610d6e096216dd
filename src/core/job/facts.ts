import type { Settings } from '../profile/settings.ts';
import type { Outcome } from '../reason.ts';
import type { JobId, Output, ReplicaOf, TaskKey } from './job.ts';
import type { JobSpec, WorkspaceRef } from './spec.ts';

/** What can be true of jobs. Names are those of the lifecycle table; a fact never changes once written. */
export type JobFact =
  | {
      readonly kind: 'JobSubmitted';
      readonly job: JobId;
      readonly name: string;
      readonly project: string;
      readonly owner: string;
      readonly spec: JobSpec;
      readonly source: unknown;
      readonly settings: Settings;
      readonly origins: Readonly<Record<string, string>>;
      readonly profile: string | null;
      readonly workspace: WorkspaceRef | null;
      readonly retryOf: JobId | null;
      readonly indices: readonly number[] | null;
      readonly service: ReplicaOf | null;
    }
  | AttemptPlaced
  | TaskFact
  | {
      readonly kind: 'OperatorStop';
      readonly job: JobId;
      /** Null for the whole job. */
      readonly indices: readonly number[] | null;
      readonly by: string;
      readonly graceMs: number;
      readonly message: string;
    }
  | { readonly kind: 'Unschedulable'; readonly job: JobId; readonly message: string; readonly by?: string }
  /** The node must be empty by now: the attempt is stopped with its grace, and ends as lost to its node. */
  | {
      readonly kind: 'Evicted';
      readonly job: JobId;
      readonly index: number;
      readonly attempt: number;
      readonly message: string;
    }
  | {
      readonly kind: 'AttemptEnded';
      readonly job: JobId;
      readonly index: number;
      readonly attempt: number;
      readonly outcome: Outcome;
      /** Log time at which the next attempt may start; null when there is none. */
      readonly retryAtMs: number | null;
    }
  | {
      readonly kind: 'RetryRequested';
      readonly job: JobId;
      readonly index: number;
      readonly attempt: number;
      readonly by: string;
    }
  | { readonly kind: 'JobEnded'; readonly job: JobId; readonly outcome: Outcome }
  /** Every attempt is confirmed gone: the job leaves the state for the archive. */
  | { readonly kind: 'JobArchived'; readonly job: JobId };

export interface AttemptPlaced {
  readonly kind: 'AttemptPlaced';
  readonly job: JobId;
  readonly index: number;
  readonly attempt: number;
  /** By rank. */
  readonly tasks: readonly Allocation[];
}

export interface Allocation {
  readonly node: string;
  readonly devices: readonly string[];
  readonly cpus: number;
  readonly memoryMiB: number;
}

/** An event of one task. */
export type TaskFact = TaskKey & TaskEvent;

export type TaskEvent =
  | { readonly kind: 'NodeReady' }
  | { readonly kind: 'WorkspaceMaterialized' }
  | { readonly kind: 'SetupCompleted'; readonly reused: boolean }
  | {
      readonly kind: 'SetupFailed';
      readonly exitCode: number | null;
      readonly signal: number | null;
      /** The line that failed, where the shell can tell. */
      readonly line: { readonly number: number; readonly text: string } | null;
      readonly detail: string | null;
    }
  | { readonly kind: 'TaskPrepared'; readonly address: string; readonly port: number }
  | { readonly kind: 'JobStarted'; readonly port: number | null }
  | { readonly kind: 'EndpointOpened'; readonly endpoint: string }
  /** Told only when it changes (X6). */
  | { readonly kind: 'ReadinessChanged'; readonly ready: boolean; readonly reason: string | null }
  /** It ended and was started again in place. `restarts` counts all of the attempt. */
  | { readonly kind: 'Restarted'; readonly restarts: number; readonly lastFailure: string }
  | {
      readonly kind: 'JobExited';
      readonly exitCode: number | null;
      readonly signal: number | null;
      readonly detail: string | null;
    }
  | { readonly kind: 'TimedOut'; readonly timeoutMs: number }
  | { readonly kind: 'GaveUp'; readonly message: string }
  | {
      readonly kind: 'OutputsCollected';
      readonly outputs: readonly Output[];
      readonly manifest: string | null;
      readonly exitCode: number | null;
      readonly signal: number | null;
    }
  /** `held`: processes of it may still live, so what it was given stays taken. */
  | { readonly kind: 'NodeFault'; readonly message: string; readonly held: boolean }
  /** `held`: as above; a node that is lost may still run it. */
  | { readonly kind: 'NodeLost'; readonly message: string; readonly held: boolean };
