import { type Decision, done } from '../decide.ts';
import { checkName } from '../job/check-spec.ts';
import { type Refusal, refuse } from '../refusal.ts';
import type { State } from '../state.ts';
import { defaultProject, noQuota, type Quota } from './access.ts';
import { unknownProject } from './authorize.ts';
import type { AccessCommand } from './command.ts';
import { decideJoinToken, decideToken, decideUseJoinToken } from './decide-token.ts';
import { isAtLeast, roles, system } from './principal.ts';

type Command<Kind extends AccessCommand['kind']> = Extract<AccessCommand, { kind: Kind }>;

/** Projects, roles and tokens. Whether the one who asks may is asked before (authorize.ts). */
export function decideAccess(state: State, command: AccessCommand, nowMs: number): Decision | Refusal {
  switch (command.kind) {
    case 'CreateProject':
      return createProject(state, command);
    case 'ChangeProject':
      return changeProject(state, command);
    case 'RemoveProject':
      return removeProject(state, command);
    case 'GrantRole':
      return grantRole(state, command);
    case 'RevokeRole':
      return revokeRole(state, command);
    case 'CreateToken':
      return decideToken(state, command, nowMs);
    case 'CreateJoinToken':
      return decideJoinToken(state, command, nowMs);
    case 'RevokeToken':
      return revokeToken(state, command);
    case 'UseJoinToken':
      return decideUseJoinToken(state, command, nowMs);
    case 'RecordRefusal': {
      const { kind: _kind, ...what } = command;
      return done([{ kind: 'AccessRefused', ...what }]);
    }
  }
}

/** Refused by name where there is no such project. */
export function checkProject(state: State, name: string): Refusal | null {
  return state.access.projects.has(name) ? null : unknownProject(state, system, name);
}

function createProject(state: State, { project, quota, by }: Command<'CreateProject'>): Decision | Refusal {
  const wrong = checkName(project, 'project') ?? checkQuota(quota);
  if (wrong !== null) return wrong;
  if (state.access.projects.has(project)) {
    return refuse('WRONG_STATE', `there is a project ${project} already`, { hint: `yard projects set ${project}` });
  }
  return done([{ kind: 'ProjectCreated', project, quota: { ...noQuota, ...quota }, everyone: null, by }]);
}

function changeProject(state: State, command: Command<'ChangeProject'>): Decision | Refusal {
  const { project, by } = command;
  const known = state.access.projects.get(project);
  if (known === undefined) return unknownProject(state, system, project);
  const wrong = checkQuota(command.quota);
  if (wrong !== null) return wrong;
  const quota = { ...known.quota, ...command.quota };
  const everyone = command.everyone === undefined ? known.everyone : command.everyone;
  if (everyone !== null && !roles.includes(everyone)) return badRole(everyone);
  const isSame = everyone === known.everyone && quotaKeys.every((key) => quota[key] === known.quota[key]);
  return done(isSame ? [] : [{ kind: 'ProjectChanged', project, quota, everyone, by }]);
}

function removeProject(state: State, { project, by }: Command<'RemoveProject'>): Decision | Refusal {
  const wrong = checkProject(state, project);
  if (wrong !== null) return wrong;
  if (project === defaultProject) return refuse('WRONG_STATE', `project ${project} always exists`);
  const services = [...state.services.values()].filter((one) => one.project === project).length;
  const jobs = [...state.jobs.values()].filter((one) => one.project === project && one.outcome === null).length;
  if (jobs + services > 0) {
    const left = `${jobs} jobs that have not ended, and ${services} services`;
    return refuse('WRONG_STATE', `project ${project} has ${left}`, {
      hint: `yard jobs --project ${project}`,
    });
  }
  const tokens = [...state.access.tokens.values()].filter((one) => one.kind === 'user' && one.project === project);
  return done([
    ...secretsOf(state, project).map((name) => ({ kind: 'SecretRemoved' as const, project, name, by })),
    ...tokens.map(({ id }) => ({ kind: 'TokenRevoked' as const, token: id, by })),
    { kind: 'ProjectRemoved', project, by },
  ]);
}

function secretsOf(state: State, project: string): readonly string[] {
  return [...state.secrets.values()].filter((one) => one.project === project).map(({ name }) => name);
}

function grantRole(state: State, { project, user, role, by }: Command<'GrantRole'>): Decision | Refusal {
  const wrong = checkProject(state, project) ?? checkUser(user) ?? (isAtLeast(role, 'viewer') ? null : badRole(role));
  if (wrong !== null) return wrong;
  const has = state.access.projects.get(project)?.members.get(user);
  return done(has === role ? [] : [{ kind: 'RoleGranted', project, user, role, by }]);
}

function revokeRole(state: State, { project, user, by }: Command<'RevokeRole'>): Decision | Refusal {
  const known = state.access.projects.get(project);
  if (known === undefined) return unknownProject(state, system, project);
  if (known.members.has(user)) return done([{ kind: 'RoleRevoked', project, user, by }]);
  const hint =
    known.everyone === null
      ? `yard projects ${project} lists its members`
      : `everyone is ${known.everyone} there: yard projects set ${project} --everyone none`;
  return refuse('NOT_FOUND', `${user} has no role of their own in project ${project}`, { hint });
}

function revokeToken(state: State, { token, by }: Command<'RevokeToken'>): Decision | Refusal {
  if (state.access.tokens.has(token)) return done([{ kind: 'TokenRevoked', token, by }]);
  return refuse('NOT_FOUND', `there is no token ${JSON.stringify(token.slice(0, 60))}`, {
    hint: 'yard tokens lists them',
  });
}

const userForm = /^[a-z0-9._@-]{1,64}$/;

/** Names of users are written in one way only: nothing that looks like another name (R4.13). */
export function checkUser(name: string): Refusal | null {
  if (userForm.test(name)) return null;
  const shown = name.length > 70 ? `${name.slice(0, 67)}…` : name;
  return refuse('BAD_NAME', `${JSON.stringify(shown)} is not the name of a user`, {
    path: 'user',
    hint: 'use 1 to 64 of a-z, 0-9 and "._@-"',
  });
}

export const quotaKeys = ['replicas', 'gpus', 'cores', 'queued'] as const satisfies readonly (keyof Quota)[];

const mostOfAnything = 1_000_000;

function checkQuota(quota: Partial<Quota>): Refusal | null {
  for (const key of quotaKeys) {
    const value = quota[key] ?? null;
    const isWhole = key === 'cores' || Number.isInteger(value);
    const fits = value === null || (isWhole && value >= 0 && value <= mostOfAnything);
    if (fits) continue;
    return refuse('RANGE', `quota.${key} is ${value}; expected a whole number from 0 to ${mostOfAnything}`, {
      path: `quota.${key}`,
    });
  }
  return null;
}

function badRole(role: string): Refusal {
  return refuse('BAD_VALUE', `${JSON.stringify(role)} is no role`, {
    path: 'role',
    hint: `there are: ${roles.join(', ')}`,
  });
}
