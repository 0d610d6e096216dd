import type { Command } from '../command.ts';
import type { Role } from './principal.ts';

/** What a command needs of the user who sends it. */
export type Permission =
  /** A role in the project that the command names. */
  | { readonly of: 'project'; readonly role: Role }
  /** A role in the project of the job or service that it names: `role` for one's own, `others` for that of others. */
  | { readonly of: 'job' | 'service'; readonly role: Role; readonly others: Role }
  /** A role in any project. */
  | { readonly of: 'any'; readonly role: Role }
  /** To be an administrator of the whole installation. */
  | { readonly of: 'installation' }
  /** To be the user of the token, or an administrator of the installation. */
  | { readonly of: 'token' }
  /** To be the node that it speaks for; no user may. */
  | { readonly of: 'node' }
  /** The control plane itself sends it; nobody else may. */
  | { readonly of: 'system' };

const ownWork = { role: 'member', others: 'operator' } as const;

/** Whoever adds a command says here who may send it. */
export const permissions = {
  SubmitJob: { of: 'project', role: 'member' },
  StopJob: { of: 'job', ...ownWork },
  RetryTask: { of: 'job', ...ownWork },
  FailUnschedulable: { of: 'job', ...ownWork },
  ApplyService: { of: 'service', ...ownWork },
  ScaleService: { of: 'service', ...ownWork },
  RestartService: { of: 'service', ...ownWork },
  StopService: { of: 'service', ...ownWork },
  RemoveService: { of: 'service', ...ownWork },
  SetSecret: { of: 'project', role: 'member' },
  RemoveSecret: { of: 'project', role: 'member' },
  PauseRollout: { of: 'service', ...ownWork },
  ResumeRollout: { of: 'service', ...ownWork },
  UndoRollout: { of: 'service', ...ownWork },
  ApplyProfile: { of: 'any', role: 'operator' },
  JoinNode: { of: 'node' },
  NodeHeard: { of: 'node' },
  LeaveNode: { of: 'node' },
  NodeReport: { of: 'node' },
  UseJoinToken: { of: 'node' },
  DrainNode: { of: 'installation' },
  ResumeNode: { of: 'installation' },
  RemoveNode: { of: 'installation' },
  CreateProject: { of: 'installation' },
  ChangeProject: { of: 'installation' },
  RemoveProject: { of: 'installation' },
  GrantRole: { of: 'project', role: 'admin' },
  RevokeRole: { of: 'project', role: 'admin' },
  CreateToken: { of: 'token' },
  RevokeToken: { of: 'token' },
  CreateJoinToken: { of: 'installation' },
  RecordRefusal: { of: 'system' },
  CheckLeases: { of: 'system' },
  Tick: { of: 'system' },
} as const satisfies Record<Command['kind'], Permission>;

/** What is done with work without a command: whoever reads it, or runs something beside it. */
export const actions = {
  /** Jobs, services, their logs, outputs and events, the names of secrets, the project itself. */
  read: { of: 'job', role: 'viewer', others: 'viewer' },
  exec: { of: 'job', ...ownWork },
  'read-audit': { of: 'installation' },
  prune: { of: 'installation' },
} as const satisfies Record<string, Permission>;

export type Action = keyof typeof actions;
