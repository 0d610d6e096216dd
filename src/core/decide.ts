import { decideAccess } from './access/decide.ts';
import type { Answer, Command } from './command.ts';
import type { Fact } from './fact.ts';
import { decideStopJob, decideSubmitJob, decideUnschedulable } from './job/decide.ts';
import { decideReport } from './job/decide-report.ts';
import { decideDrainNode, decideJoinNode, decideLeaveNode, decideRemoveNode, decideResumeNode } from './node/decide.ts';
import { decideApplyProfile } from './profile/decide.ts';
import type { Refusal } from './refusal.ts';
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
      return decideJoinNode(state, command);
    case 'LeaveNode':
      return decideLeaveNode(state, command);
    case 'NodeReport':
      return decideReport(state, command);
    case 'DrainNode':
      return decideDrainNode(state, command);
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
      return decideService(state, command, context);
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
    case 'Tick':
      return done([]);
  }
}

export function done(facts: readonly Fact[]): Decision {
  return { facts, answer: { kind: 'done' } };
}
