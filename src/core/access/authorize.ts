import type { Command } from '../command.ts';
import { type Refusal, refuse } from '../refusal.ts';
import type { State } from '../state.ts';
import { describeDuration } from '../units.ts';
import type { UserToken } from './access.ts';
import { type Action, actions, type Permission, permissions } from './permissions.ts';
import { isAtLeast, type NodePrincipal, type Principal, type Role, type UserPrincipal } from './principal.ts';

/**
 * May they? Null when they may, else UNAUTHORIZED (who it was is not known any more), FORBIDDEN, or NOT_FOUND for what
 * they may not even know of. Pure, and asked under the log's lock: what was taken away a moment ago is gone.
 */
export function authorize(state: State, actor: Principal, command: Command, nowMs: number): Refusal | null {
  if (actor.kind === 'local') return null;
  const permission: Permission = permissions[command.kind];
  if (actor.kind === 'node') return authorizeNode(state, actor, command, permission);
  const token = tokenOf(state, actor);
  if (token === null || isOver(token, nowMs)) return unauthorized('the token is not valid any more');
  const speaksFor = 'by' in command ? (command.by ?? actor.name) : 'owner' in command ? command.owner : actor.name;
  if (speaksFor !== actor.name) return forbidden(`${actor.name} cannot speak for ${speaksFor}`);
  return authorizeUser(state, { actor, token, nowMs }, permission, command);
}

/** Work as far as it matters for who may see or change it. */
export interface Work {
  readonly project: string;
  readonly owner: string;
  /** `job digits-k3f9q2`, for people. */
  readonly what: string;
}

/**
 * The same for what is done without a command: work is looked at, or a command is run beside it. What is asked of no
 * work (`read-audit`) needs none.
 */
export function authorizeAction(state: State, actor: Principal, action: Action, work?: Work): Refusal | null {
  if (actor.kind === 'local') return null;
  if (actor.kind === 'node') return forbidden('no node can do that');
  const token = tokenOf(state, actor);
  if (token === null) return unauthorized('the token is not valid any more');
  if (token.admin) return null;
  const permission: Permission = actions[action];
  if (work === undefined || !('others' in permission)) {
    return forbidden('only an administrator of the installation can do that');
  }
  return needOverWork(state, actor, work, permission);
}

/** True when they may see what belongs to this project. */
export function mayRead(state: State, actor: Principal, project: string): boolean {
  return actor.kind === 'local' || isAtLeast(roleIn(state, actor, project), actions.read.role);
}

/** True for who may do everything: the operating-system user, and users by a token that says so. */
export function isAdministrator(state: State, actor: Principal): boolean {
  return actor.kind === 'local' || (actor.kind === 'user' && tokenOf(state, actor)?.admin === true);
}

/** The role they have in a project by this token; null where it is none of theirs. */
export function roleIn(state: State, actor: Principal, project: string): Role | null {
  if (actor.kind === 'local') return 'admin';
  if (actor.kind === 'node') return null;
  const token = tokenOf(state, actor);
  if (token === null) return null;
  if (token.admin) return 'admin';
  const known = state.access.projects.get(project);
  if (known === undefined || (token.project !== null && token.project !== project)) return null;
  return known.members.get(actor.name) ?? known.everyone;
}

/** The token that they came with, as long as it is theirs and was not revoked. */
function tokenOf(state: State, actor: UserPrincipal): UserToken | null {
  const token = state.access.tokens.get(actor.token);
  return token?.kind === 'user' && token.user === actor.name ? token : null;
}

export function isOver(token: { readonly expiresAtMs: number | null }, nowMs: number): boolean {
  return token.expiresAtMs !== null && token.expiresAtMs <= nowMs;
}

/** A node speaks for itself alone, and once it was removed, not at all. */
function authorizeNode(state: State, actor: NodePrincipal, command: Command, permission: Permission): Refusal | null {
  if (permission.of !== 'node' || !('node' in command) || command.node !== actor.name) {
    return forbidden(`node ${actor.name} cannot do that: a node speaks for itself only`);
  }
  if (command.kind === 'UseJoinToken' || state.access.nodeKeys.has(actor.name)) return null;
  return unauthorized(`node ${actor.name} has been removed`, 'let it join again, with a new join token');
}

interface Asking {
  readonly actor: UserPrincipal;
  readonly token: UserToken;
  readonly nowMs: number;
}

function authorizeUser(state: State, asking: Asking, permission: Permission, command: Command): Refusal | null {
  const { actor, token } = asking;
  switch (permission.of) {
    case 'system':
    case 'node':
      return forbidden('no user can do that');
    case 'installation':
      return token.admin ? null : forbidden('only an administrator of the installation can do that');
    case 'any':
      return token.admin || hasSomewhere(state, actor, permission.role)
        ? null
        : forbidden(`it needs the role ${permission.role} in some project, and ${actor.name} has it in none`);
    case 'token':
      return authorizeToken(state, asking, command);
    case 'project': {
      const project = 'project' in command && typeof command.project === 'string' ? command.project : '';
      return needRole(state, asking, project, permission.role);
    }
    case 'job': {
      const id = 'job' in command ? command.job : '';
      const job = state.jobs.get(id);
      // What one may not see and what is not there are told in the same words.
      if (job === undefined || !mayRead(state, actor, job.project)) {
        return refuse('NOT_FOUND', `no job ${id} is alive`);
      }
      return needOverWork(state, asking.actor, { ...job, what: `job ${job.id}` }, permission);
    }
    case 'service':
      return authorizeService(state, asking, command, permission);
  }
}

/** A service that is not there yet is its applier's own; one that is there belongs to its project and its owner. */
function authorizeService(
  state: State,
  asking: Asking,
  command: Command,
  permission: Extract<Permission, { of: 'job' | 'service' }>,
): Refusal | null {
  const isApply = command.kind === 'ApplyService';
  const name = isApply ? command.spec.name : 'service' in command ? command.service : '';
  if (isApply) {
    const wrong = needRole(state, asking, command.project, permission.role);
    if (wrong !== null) return wrong;
  }
  const service = state.services.get(name);
  if (service === undefined && isApply) return null;
  if (service === undefined || !mayRead(state, asking.actor, service.project)) {
    return isApply
      ? forbidden(`another project has a service ${JSON.stringify(name)} already`, 'give it another name')
      : refuse('NOT_FOUND', `there is no service ${JSON.stringify(name)}`);
  }
  return needOverWork(state, asking.actor, { ...service, what: `service ${name}` }, permission);
}

/** One's own tokens are one's own affair, as long as they give no more than the token that they are made with. */
function authorizeToken(state: State, { actor, token, nowMs }: Asking, command: Command): Refusal | null {
  if (token.admin) return null;
  if (command.kind === 'RevokeToken') {
    const known = state.access.tokens.get(command.token);
    if (known?.kind === 'user' && known.user === actor.name) return null;
    return refuse('NOT_FOUND', `there is no token ${command.token} of yours`, { hint: 'yard tokens lists them' });
  }
  if (command.kind !== 'CreateToken') return forbidden('only an administrator of the installation can do that');
  if (command.user !== actor.name) return forbidden(`only an administrator makes tokens for others than themselves`);
  if (command.admin) return forbidden('only an administrator makes tokens of administrators');
  if (token.project !== null && command.project !== token.project) {
    return forbidden(`this token is good for project ${token.project} only, and so are those made with it`);
  }
  const restMs = token.expiresAtMs === null ? null : token.expiresAtMs - nowMs;
  if (restMs === null || (command.lifetimeMs !== null && command.lifetimeMs <= restMs)) return null;
  const rest = describeDuration(restMs);
  return forbidden(`this token expires in ${rest}, and those made with it no later`, 'say when: --expires 1h');
}

function hasSomewhere(state: State, actor: UserPrincipal, role: Role): boolean {
  return [...state.access.projects.keys()].some((project) => isAtLeast(roleIn(state, actor, project), role));
}

function needRole(state: State, { actor }: Asking, project: string, role: Role): Refusal | null {
  const has = roleIn(state, actor, project);
  if (isAtLeast(has, role)) return null;
  if (has === null) return unknownProject(state, actor, project);
  return forbidden(`it needs the role ${role} in project ${project}, and ${actor.name} is ${has} there`);
}

function needOverWork(
  state: State,
  actor: UserPrincipal,
  work: Work,
  permission: Extract<Permission, { of: 'job' | 'service' }>,
): Refusal | null {
  const has = roleIn(state, actor, work.project);
  if (has === null) return refuse('NOT_FOUND', `there is no ${work.what}`);
  const isOwn = work.owner === actor.name;
  const needed = roleFor(permission, isOwn);
  if (isAtLeast(has, needed)) return null;
  const whose = isOwn ? '' : ` of ${work.owner}`;
  return forbidden(
    `${work.what}${whose} needs the role ${needed} in project ${work.project}, and ${actor.name} is ${has} there`,
  );
}

function roleFor(permission: Extract<Permission, { role: Role }>, isOwn: boolean): Role {
  return 'others' in permission && !isOwn ? permission.others : permission.role;
}

/** A project that one may not see and one that is not there are told in the same words. */
export function unknownProject(state: State, actor: Principal, name: string): Refusal {
  const known = [...state.access.projects.keys()].filter((one) => mayRead(state, actor, one)).sort();
  const shown = name.length > 60 ? `${name.slice(0, 57)}…` : name;
  return refuse('NOT_FOUND', `there is no project ${JSON.stringify(shown)}`, {
    path: 'project',
    hint: known.length === 0 ? 'ask an administrator for a project' : `there are: ${known.join(', ')}`,
  });
}

function forbidden(message: string, hint = 'ask an administrator'): Refusal {
  return refuse('FORBIDDEN', message, { hint });
}

function unauthorized(message: string, hint = 'yard login'): Refusal {
  return refuse('UNAUTHORIZED', message, { hint });
}
