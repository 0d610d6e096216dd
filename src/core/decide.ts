import { decideAccess } from './access/decide.ts';
import { checkReplicaQuota } from './access/quota.ts';
import type { Answer, Command } from './command.ts';
import type { Fact } from './fact.ts';
import { decideRetryTask, decideStopJob, decideSubmitJob, decideUnschedulable } from './job/decide.ts';
import { decideReport } from './job/decide-report.ts';
import { decideDrainNode, decideLeaveNode, decideRemoveNode, decideResumeNode } from './node/decide.ts';
import { decideJoinNode } from './node/decide-join.ts';
import { decideCheckLeases, decideNodeHeard } from './node/decide-leases.ts';
import type { LeaseTimes } from './node/lease-times.ts';
import { decideApplyProfile } from './profile/decide.ts';
import { isRefusal, type Refusal } from './refusal.ts';
import { decideSecret } from './secrets/decide.ts';
import { decideService } from './service/decide.ts';
import type { State } from './state.ts';

/** What a command makes true, and what it answers. */
export interface Decision {
  readonly facts: readonly Fact[];
  readonly answer: Answer;
}

/** What `decide` may know beside the state; looked up under the log's lock. */
export interface DecideContext {
  readonly nowMs: number;
  /** Ids that archived jobs have. */
  readonly archivedIds: ReadonlySet<string>;
  readonly missingBlobs: ReadonlySet<string>;
  /** Wall clock, Unix milliseconds. */
  readonly atMs: number;
  /** Log time at which the leases of the nodes asked for end, by node. */
  readonly leases: ReadonlyMap<string, number>;
  readonly leaseTimes: LeaseTimes;
  /** Nobody was there for a while: that a node was not heard then says nothing of it. */
  readonly afterOutage: boolean;
}

/** Facts or a refusal. Pure: the state is read, never changed, and the same arguments give the same decision. */
export function decide(state: State, command: Command, context: DecideContext): Decision | Refusal {
  switch (command.kind) {
    case 'SubmitJob':
      return decideSubmitJob(state, command, context);
    case 'StopJob':
      return decideStopJob(state, command);
    case 'FailUnschedulable':
      return decideUnschedulable(state, command);
    case 'JoinNode':
      return decideJoinNode(state, command, context);
    case 'LeaveNode':
      return decideLeaveNode(state, command);
    case 'NodeReport':
      return decideReport(state, command);
    case 'DrainNode':
      return decideDrainNode(state, command, context);
    case 'CheckLeases':
      return decideCheckLeases(state, command, context);
    case 'NodeHeard':
      return decideNodeHeard(state, command);
    case 'RetryTask':
      return decideRetryTask(state, command);
    case 'ResumeNode':
      return decideResumeNode(state, command);
    case 'RemoveNode':
      return decideRemoveNode(state, command);
    case 'ApplyProfile':
      return decideApplyProfile(state, command);
    case 'ApplyService':
    case 'ScaleService':
    case 'RestartService':
    case 'StopService':
    case 'RemoveService':
    case 'PauseRollout':
    case 'ResumeRollout':
    case 'UndoRollout':
      return withinQuota(state, decideService(state, command, context));
    case 'CreateProject':
    case 'ChangeProject':
    case 'RemoveProject':
    case 'GrantRole':
    case 'RevokeRole':
    case 'CreateToken':
    case 'CreateJoinToken':
    case 'RevokeToken':
    case 'UseJoinToken':
    case 'RecordRefusal':
      return decideAccess(state, command, context.nowMs);
    case 'SetSecret':
    case 'RemoveSecret':
      return decideSecret(state, command);
    case 'Tick':
      return done([]);
  }
}

/** A decision, unless it would have a project want more replicas than it may. */
function withinQuota(state: State, decision: Decision | Refusal): Decision | Refusal {
  return isRefusal(decision) ? decision : (checkReplicaQuota(state, decision.facts) ?? decision);
}

export function done(facts: readonly Fact[]): Decision {
  return { facts, answer: { kind: 'done' } };
}
