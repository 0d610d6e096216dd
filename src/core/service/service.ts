import type { JobId } from '../job/job.ts';
import type { JobSpec, WorkspaceRef } from '../job/spec.ts';
import type { Settings } from '../profile/settings.ts';

/** A named object that keeps N replicas alive, each an ordinary job (X20, X21). */
export interface Service {
  readonly name: string;
  readonly project: string;
  readonly owner: string;
  /** What the replicas should run: the newest revision applied, or the one gone back to. */
  revision: number;
  /** By number; the newest and those that still have replicas, and a few before them. */
  readonly revisions: Map<number, Revision>;
  /** Replicas wanted; kept while it is stopped. */
  desired: number;
  standing: Standing;
  /** Replicas that have not ended, by job id, in the order of their submission. */
  readonly replicas: Map<JobId, Replica>;
  /** Replicas that ended well and are not wanted again. */
  completed: number;
  /** Replicas that were lost with their node and, as their profile says (`onNodeLoss: fail`), must not run again. */
  lost: number;
  rollout: Rollout | null;
  /** The revision to go back to: the last whose rollout came to its end. Null until one has. */
  served: number | null;
  /** Replicas in a row that ended badly before they were ever stable. */
  failures: number;
  /** Log time before which no replacement starts, and why; null when nothing holds it back. */
  backoff: { readonly untilMs: number; readonly reason: string } | null;
  /** What happened last, newest first. */
  events: readonly ServiceEvent[];
}

export interface ServiceEvent {
  /** Wall clock, Unix milliseconds. */
  readonly atMs: number;
  readonly message: string;
}

/** What a replica runs on. A change of any of it makes a new revision. */
export interface Revision {
  readonly number: number;
  readonly spec: JobSpec;
  readonly source: unknown;
  readonly settings: Settings;
  readonly origins: Readonly<Record<string, string>>;
  readonly profile: string | null;
  readonly workspace: WorkspaceRef | null;
}

export interface Replica {
  readonly job: JobId;
  /** Lowest free number at its start; a replica that replaces another takes over its index. */
  readonly index: number;
  readonly revision: number;
  /** Log time since which it has been ready without a break; null when it is not. */
  readySinceMs: number | null;
  /** It has been ready at least once: there is something to lose with it. */
  wasReady: boolean;
  /** It has been told to stop and is not counted on any more. */
  stopping: boolean;
  /** The service itself told it to: nothing stands for it any more. */
  dismissed: boolean;
  /** Its job has ended, yet processes of it may still live: it counts until none does. */
  ended: boolean;
  /** Its node must be empty soon: it is replaced elsewhere, and then stopped. */
  moving: boolean;
  /** A copy of it may live on a lost node until that is back. It takes nobody's place meanwhile. */
  away: boolean;
  /** Why it is not ready, as last told. */
  reason: string | null;
}

/** What a person wants of the service. */
export type Standing = 'wanted' | 'stopped' | 'completed';

export type Rollout = {
  readonly from: number;
  readonly to: number;
  readonly state: RolloutState;
  /** Replicas of the new revision that are available. */
  readonly updated: number;
  /** Log time at which it fails unless it makes progress; null while it is paused or over. */
  readonly deadlineAtMs: number | null;
  readonly reason: string | null;
};

/** Every move of a rollout; guards, CLI and docs read this. */
export const rolloutMoves = {
  progressing: ['paused', 'done', 'failed', 'rolled-back'],
  paused: ['progressing', 'rolled-back'],
  failed: ['progressing', 'rolled-back'],
  done: [],
  'rolled-back': [],
} as const satisfies Record<string, readonly string[]>;

export type RolloutState = keyof typeof rolloutMoves;

/** A rollout that has not reached its end: it moves on, or a person decides about it. */
export function openRollout(service: Service): Rollout | null {
  const { rollout } = service;
  return rollout === null || rolloutMoves[rollout.state].length === 0 ? null : rollout;
}

/** Replicas that should run now: those that ended for good are not wanted again. */
export function wantedReplicas({ desired, completed, lost }: Service): number {
  return Math.max(0, desired - completed - lost);
}

/** What people see (interface: the states of a service), each with what it means. */
export const serviceStates = {
  RUNNING: 'As many replicas are ready as are wanted.',
  UPDATING: 'A rollout is under way or paused.',
  WAITING: 'Fewer replicas are ready than are wanted; the reason says why.',
  STOPPED: 'Kept without replicas until it is applied again.',
  COMPLETED: 'Every replica ended well and its policy does not restart it.',
  FAILED: 'Its rollout failed, or its replicas were lost for good, and nothing of it is ready.',
} as const satisfies Record<string, string>;

export type ServiceState = keyof typeof serviceStates;

export const mostReplicas = 64;
