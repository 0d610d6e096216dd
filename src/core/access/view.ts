import type { State } from '../state.ts';
import type { Project, Quota, Token } from './access.ts';
import { isAdministrator, mayRead, roleIn } from './authorize.ts';
import type { Principal, Role } from './principal.ts';
import { replicasWanted, usageByProject } from './quota.ts';

/** A project as `--json`, the API and the SDK show it. */
export interface ProjectView {
  readonly name: string;
  readonly quota: Quota;
  readonly used: { readonly replicas: number; readonly gpus: number; readonly cores: number; readonly queued: number };
  /** The role of every user who is not among the members. */
  readonly everyone: Role | null;
  readonly members: Readonly<Record<string, Role>>;
}

/** A token as `--json`, the API and the SDK show it; never its secret. */
export interface TokenView {
  readonly id: string;
  readonly kind: 'user' | 'join';
  readonly user: string | null;
  readonly admin: boolean;
  readonly project: string | null;
  readonly node: string | null;
  readonly createdBy: string;
  readonly createdAt: string;
  readonly expiresAt: string | null;
}

/** Whose token it is, and what they may do with it. */
export interface WhoView {
  readonly name: string;
  readonly admin: boolean;
  readonly projects: Readonly<Record<string, Role>>;
}

/** The projects that they may see, by name. */
export function viewProjects(state: State, actor: Principal): readonly ProjectView[] {
  const usage = usageByProject(state);
  return visible(state, actor).map((project) => {
    const { name, quota, everyone, members } = project;
    const { gpus, cores } = usage.get(name) ?? { gpus: 0, cores: 0 };
    const used = { replicas: replicasWanted(state, name), gpus, cores, queued: state.derived.pending.countOf(name) };
    const sorted = [...members].sort(([a], [b]) => (a < b ? -1 : 1));
    return { name, quota, used, everyone, members: Object.fromEntries(sorted) };
  });
}

/** `atMs` and `nowMs` are wall clock and log time at the same moment: tokens end by the one and are shown by the other. */
export function viewTokens(
  state: State,
  actor: Principal,
  { atMs, nowMs }: { readonly atMs: number; readonly nowMs: number },
): readonly TokenView[] {
  const shown = (ms: number): string => new Date(atMs + ms - nowMs).toISOString();
  const isAdmin = isAdministrator(state, actor);
  return [...state.access.tokens.values()]
    .filter((token) => isAdmin || (token.kind === 'user' && token.user === actor.name))
    .map((token) => ({
      ...viewOf(token),
      createdAt: shown(token.createdAtMs),
      expiresAt: token.expiresAtMs === null ? null : shown(token.expiresAtMs),
    }));
}

export function viewWho(state: State, actor: Principal): WhoView {
  const roles = visible(state, actor).flatMap(({ name }) => {
    const role = roleIn(state, actor, name);
    return role === null ? [] : [[name, role] as const];
  });
  return { name: actor.name, admin: isAdministrator(state, actor), projects: Object.fromEntries(roles) };
}

function visible(state: State, actor: Principal): readonly Project[] {
  return [...state.access.projects.values()]
    .filter(({ name }) => mayRead(state, actor, name))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function viewOf(token: Token): Omit<TokenView, 'createdAt' | 'expiresAt'> {
  const { id, kind, by: createdBy } = token;
  const user = token.kind === 'user' ? token : { user: null, admin: false, project: null };
  const node = token.kind === 'join' ? token.node : null;
  return { id, kind, user: user.user, admin: user.admin, project: user.project, node, createdBy };
}
