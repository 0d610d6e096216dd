import type { JobId } from '../job/job.ts';
import type { JobSpec, WorkspaceRef } from '../job/spec.ts';
import type { SettingsLayer } from '../profile/settings.ts';

/** What can be asked of a service. */
export type ServiceCommand =
  | {
      readonly kind: 'ApplyService';
      readonly spec: JobSpec;
      readonly source: unknown;
      readonly profile: string | null;
      readonly layers: readonly SettingsLayer[];
      readonly workspace: WorkspaceRef | null;
      readonly project: string;
      readonly owner: string;
    }
  /** `remove` names replicas that go first; the count and the preference are one command. */
  | {
      readonly kind: 'ScaleService';
      readonly service: string;
      readonly desired: number;
      readonly remove: readonly JobId[];
      readonly by: string;
    }
  | { readonly kind: 'RestartService'; readonly service: string; readonly by: string }
  | { readonly kind: 'StopService'; readonly service: string; readonly by: string }
  | { readonly kind: 'RemoveService'; readonly service: string; readonly by: string }
  | { readonly kind: 'PauseRollout'; readonly service: string; readonly by: string }
  | { readonly kind: 'ResumeRollout'; readonly service: string; readonly by: string }
  /** Back to a revision; null for the one before. */
  | { readonly kind: 'UndoRollout'; readonly service: string; readonly to: number | null; readonly by: string };
