import type { AccessCommand } from './access/command.ts';
import type { TaskEvent } from './job/facts.ts';
import type { JobId, TaskKey } from './job/job.ts';
import type { JobSpec, WorkspaceRef } from './job/spec.ts';
import type { Capacity } from './node/node.ts';
import type { PartialSettings, SettingsLayer } from './profile/settings.ts';
import type { ServiceCommand } from './service/command.ts';

/** What can be asked of the control plane. A command is decided whole or refused whole. */
export type Command =
  | SubmitJob
  | {
      readonly kind: 'StopJob';
      readonly job: JobId;
      readonly indices: readonly number[] | null;
      readonly by: string;
      /** Null: the job's own. */
      readonly graceMs: number | null;
    }
  | { readonly kind: 'FailUnschedulable'; readonly job: JobId; readonly message: string }
  | JoinNode
  | ServiceCommand
  | AccessCommand
  | { readonly kind: 'LeaveNode'; readonly node: string; readonly instance: string }
  | NodeReport
  | { readonly kind: 'DrainNode'; readonly node: string; readonly reason: string; readonly by: string }
  | { readonly kind: 'ResumeNode'; readonly node: string; readonly by: string }
  | { readonly kind: 'RemoveNode'; readonly node: string; readonly by: string }
  | {
      readonly kind: 'ApplyProfile';
      readonly name: string;
      readonly values: PartialSettings;
      readonly source: unknown;
      readonly by: string;
    }
  /** Time passed: whatever is overdue happens (G10). Fired twice it changes nothing. */
  | { readonly kind: 'Tick' };

export interface SubmitJob {
  readonly kind: 'SubmitJob';
  readonly spec: JobSpec;
  readonly source: unknown;
  /** A named profile, below the layers. */
  readonly profile: string | null;
  readonly layers: readonly SettingsLayer[];
  readonly workspace: WorkspaceRef | null;
  readonly project: string;
  readonly owner: string;
  readonly retryOf: JobId | null;
  readonly indices: readonly number[] | null;
  /** Fresh ids, tried in order: one that is taken is passed over. */
  readonly ids: readonly string[];
}

export interface JoinNode {
  readonly kind: 'JoinNode';
  readonly node: string;
  readonly instance: string;
  readonly bootId: string;
  readonly capacity: Capacity;
  readonly advertise: string;
  readonly platform: string;
  readonly version: string;
  /** Attempts the agent has begun and of which it holds the records. */
  readonly inventory: readonly TaskKey[];
}

export interface NodeReport {
  readonly kind: 'NodeReport';
  readonly node: string;
  readonly instance: string;
  readonly events: readonly (TaskKey & TaskEvent)[];
  /** Attempts that ended with processes left, of which none is left now. */
  readonly released: readonly TaskKey[];
}

/** What a command answers with; plain JSON, so that it can be stored under its idempotency key. */
export type Answer =
  | { readonly kind: 'done' }
  | { readonly kind: 'submitted'; readonly job: JobId }
  | { readonly kind: 'reported'; readonly stale: readonly TaskKey[] }
  | { readonly kind: 'applied'; readonly revision: number; readonly changed: boolean };
