import type { AccessCommand } from './access/command.ts';
import type { TaskEvent } from './job/facts.ts';
import type { JobId, TaskKey } from './job/job.ts';
import type { JobSpec, WorkspaceRef } from './job/spec.ts';
import type { Capacity } from './node/node.ts';
import type { PartialSettings, SettingsLayer } from './profile/settings.ts';
import type { SecretCommand, SharedSecret } from './secrets/command.ts';
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
  /** The next attempt now, of what waits for a node that is lost. Null: of all its elements that do. */
  | { readonly kind: 'RetryTask'; readonly job: JobId; readonly index: number | null; readonly by: string }
  | { readonly kind: 'FailUnschedulable'; readonly job: JobId; readonly message: string; readonly by?: string }
  | JoinNode
  | ServiceCommand
  | SecretCommand
  | AccessCommand
  | { readonly kind: 'LeaveNode'; readonly node: string; readonly instance: string }
  | NodeReport
  | CheckLeases
  | NodeHeard
  | {
      readonly kind: 'DrainNode';
      readonly node: string;
      readonly reason: string;
      readonly by: string;
      /** From now until what is left there is stopped; null: it may end by itself. */
      readonly deadlineMs: number | null;
    }
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
  /** It joins over the network, and must renew its lease from then on. */
  readonly leased: boolean;
  /** The node's wall clock, Unix milliseconds; null where it is the control plane's own. */
  readonly wallMs: number | null;
  /** What secrets are sealed to for it, base64; absent where it can open none. */
  readonly publicKey?: string;
  /** Names of the secrets that stay on it; none when absent. */
  readonly secrets?: readonly string[];
}

/** Leases of these nodes may have ended: looked at again under the log's lock. Fired twice it changes nothing. */
export interface CheckLeases {
  readonly kind: 'CheckLeases';
  readonly nodes: readonly string[];
}

/** A heartbeat of a node that was missed; of any other it is no command at all, only a lease renewed. */
export interface NodeHeard {
  readonly kind: 'NodeHeard';
  readonly node: string;
  readonly instance: string;
}

export interface NodeReport {
  readonly kind: 'NodeReport';
  readonly node: string;
  readonly instance: string;
  readonly events: readonly (TaskKey & TaskEvent)[];
  /** Attempts that ended with processes left, of which none is left now. */
  readonly released: readonly TaskKey[];
  /** Names of the secrets that stay on it, where they have changed. */
  readonly secrets?: readonly string[];
  /** What it has sealed to nodes that came later, as it was asked to. */
  readonly shared?: readonly SharedSecret[];
}

/** What a command answers with; plain JSON, so that it can be stored under its idempotency key. */
export type Answer =
  | { readonly kind: 'done' }
  | { readonly kind: 'submitted'; readonly job: JobId }
  | { readonly kind: 'reported'; readonly stale: readonly TaskKey[] }
  | { readonly kind: 'applied'; readonly revision: number; readonly changed: boolean };
