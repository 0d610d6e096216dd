import { type AccessFact, accessFactKinds } from './access/facts.ts';
import type { JobFact } from './job/facts.ts';
import type { NodeFact } from './node/facts.ts';
import type { ProfileFact } from './profile/profile.ts';
import { type SecretFact, secretFactKinds } from './secrets/facts.ts';
import { type ServiceFact, serviceFactKinds } from './service/facts.ts';

/** Everything that can be true. Kinds are added, never changed in meaning. */
export type Fact = JobFact | NodeFact | ProfileFact | ServiceFact | SecretFact | AccessFact;
export type FactKind = Fact['kind'];

/** Every kind this version reads; a log with another one makes the process read-only. */
export const factKinds = [
  'JobSubmitted',
  'AttemptPlaced',
  'NodeReady',
  'WorkspaceMaterialized',
  'SetupCompleted',
  'SetupFailed',
  'TaskPrepared',
  'JobStarted',
  'EndpointOpened',
  'ReadinessChanged',
  'Restarted',
  'JobExited',
  'TimedOut',
  'GaveUp',
  'OutputsCollected',
  'NodeFault',
  'NodeLost',
  'OperatorStop',
  'Unschedulable',
  'Evicted',
  'AttemptEnded',
  'RetryRequested',
  'JobEnded',
  'JobArchived',
  'NodeJoined',
  'NodeLeft',
  'NodeSuspected',
  'NodeResponded',
  'NodeDeclaredLost',
  'LossHeld',
  'LossReleased',
  'NodeDrained',
  'NodeResumed',
  'NodeRemoved',
  'AllocationReleased',
  'NodeSecretsChanged',
  'ProfileApplied',
  ...serviceFactKinds,
  ...secretFactKinds,
  ...accessFactKinds,
] as const satisfies readonly FactKind[];
