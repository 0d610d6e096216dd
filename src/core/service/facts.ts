import type { JobId } from '../job/job.ts';
import type { Revision } from './service.ts';

/** What can be true of services. Replicas come and go with the facts of their jobs. */
export type ServiceFact =
  | {
      readonly kind: 'ServiceApplied';
      readonly service: string;
      readonly project: string;
      readonly owner: string;
      readonly revision: Revision;
      readonly desired: number;
      readonly by: string;
    }
  | {
      readonly kind: 'ServiceScaled';
      readonly service: string;
      readonly desired: number;
      readonly remove: readonly JobId[];
      readonly by: string;
    }
  /** It is wanted again, on the revision it has. */
  | { readonly kind: 'ServiceStarted'; readonly service: string; readonly by: string }
  | { readonly kind: 'ServiceStopped'; readonly service: string; readonly by: string }
  | { readonly kind: 'ServiceCompleted'; readonly service: string }
  | { readonly kind: 'ServiceRemoved'; readonly service: string; readonly by: string }
  | {
      readonly kind: 'RolloutStarted';
      readonly service: string;
      readonly from: number;
      readonly to: number;
      readonly deadlineAtMs: number;
      /** Who went back to it; absent where it follows from what was applied. */
      readonly by?: string;
    }
  | {
      readonly kind: 'RolloutAdvanced';
      readonly service: string;
      readonly updated: number;
      readonly deadlineAtMs: number;
    }
  | { readonly kind: 'RolloutPaused'; readonly service: string; readonly by: string }
  | { readonly kind: 'RolloutResumed'; readonly service: string; readonly by: string; readonly deadlineAtMs: number }
  | {
      readonly kind: 'RolloutEnded';
      readonly service: string;
      readonly state: 'done' | 'failed' | 'rolled-back';
      readonly reason: string | null;
      /** Who ended it; absent where it ended by itself. */
      readonly by?: string;
    }
  /** A replica ended badly: its replacement waits. */
  | {
      readonly kind: 'ReplacementDelayed';
      readonly service: string;
      readonly failures: number;
      readonly untilMs: number;
      readonly reason: string;
    }
  /** A replica has been ready for the stable period: failures are forgotten. */
  | { readonly kind: 'ServiceSettled'; readonly service: string }
  | { readonly kind: 'ReplicaDismissed'; readonly service: string; readonly job: JobId; readonly reason: string };

/** Every kind of them. */
export const serviceFactKinds = [
  'ServiceApplied',
  'ServiceScaled',
  'ServiceStarted',
  'ServiceStopped',
  'ServiceCompleted',
  'ServiceRemoved',
  'RolloutStarted',
  'RolloutAdvanced',
  'RolloutPaused',
  'RolloutResumed',
  'RolloutEnded',
  'ReplacementDelayed',
  'ServiceSettled',
  'ReplicaDismissed',
] as const satisfies readonly ServiceFact['kind'][];

const kinds: ReadonlySet<string> = new Set(serviceFactKinds);

export function isServiceFact(fact: { readonly kind: string }): fact is ServiceFact {
  return kinds.has(fact.kind);
}
