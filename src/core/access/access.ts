import type { Role } from './principal.ts';

/** Who may do what, and how much: part of the state (X29). */
export interface Access {
  readonly projects: Map<string, Project>;
  /** By id: of users, and to join. */
  readonly tokens: Map<string, Token>;
  /** By node. */
  readonly nodeKeys: Map<string, NodeKey>;
}

/** Work that is looked at together: who may see and change it, and how much of it there may be. */
export interface Project {
  readonly name: string;
  quota: Quota;
  /** The role of every user who has no other in it; null where only members may enter. */
  everyone: Role | null;
  readonly members: Map<string, Role>;
}

/** The most that a project may have at once; null where there is no limit. */
export interface Quota {
  /** Replicas wanted, over all services. */
  readonly replicas: number | null;
  /** GPUs in use. */
  readonly gpus: number | null;
  /** Cores in use. */
  readonly cores: number | null;
  /** Jobs that wait for a place. */
  readonly queued: number | null;
}

export const noQuota: Quota = { replicas: null, gpus: null, cores: null, queued: null };

/** The project of whoever names none. It always exists; every user is a member of it unless that is changed. */
export const defaultProject = 'default';

export type Token = UserToken | JoinToken;

/** Lets somebody in as a user. Only a digest of its secret is kept. */
export interface UserToken {
  readonly kind: 'user';
  readonly id: string;
  readonly user: string;
  /** Lower-case hex SHA-256 of the secret. */
  readonly hash: string;
  readonly createdAtMs: number;
  /** Log time; null where it lasts until it is revoked. */
  readonly expiresAtMs: number | null;
  /** The only project that it is good for; null for all of the user's. */
  readonly project: string | null;
  /** May do everything, in every project. */
  readonly admin: boolean;
  readonly by: string;
}

/** Lets one node join, once. */
export interface JoinToken {
  readonly kind: 'join';
  readonly id: string;
  readonly hash: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  /** The only node that may use it; null for any whose name is free. */
  readonly node: string | null;
  readonly by: string;
}

/** How a node is known again. The agent drew the key, and only its digest was kept. */
export interface NodeKey {
  readonly node: string;
  readonly hash: string;
  /** Log time. */
  readonly joinedAtMs: number;
  /** The token it was let in by. */
  readonly token: string;
}

export function emptyAccess(): Access {
  const open: Project = { name: defaultProject, quota: noQuota, everyone: 'member', members: new Map() };
  return { projects: new Map([[open.name, open]]), tokens: new Map(), nodeKeys: new Map() };
}
