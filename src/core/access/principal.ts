/** Who asks. Facts name people by `name` alone; what one may do is looked up in the state each time. */
export type Principal = LocalPrincipal | UserPrincipal | NodePrincipal;

/** The operating-system user of an embedded home, which trusts that user (G8), and the control plane itself. May do everything. */
export interface LocalPrincipal {
  readonly kind: 'local';
  readonly name: string;
}

/** Whoever holds a user's token. The token says what the user may do at most, so it is looked up and not copied here. */
export interface UserPrincipal {
  readonly kind: 'user';
  readonly name: string;
  /** Id of the token that was presented. */
  readonly token: string;
}

/** An agent that presented the key of its node, or is about to present the key that it will have. */
export interface NodePrincipal {
  readonly kind: 'node';
  /** The node. */
  readonly name: string;
}

/** From the least to the most: each may do what those before it may. */
export const roles = ['viewer', 'member', 'operator', 'admin'] as const;
export type Role = (typeof roles)[number];

export const roleMeanings = {
  viewer: 'Reads jobs, services, logs, outputs and events of the project.',
  member: 'Submits jobs and applies services, changes their own and runs commands beside them; sets secrets.',
  operator: 'Does the same with the work of everybody in the project; applies named profiles.',
  admin: 'Gives and takes roles in the project.',
} as const satisfies Record<Role, string>;

/** True when `role` may do what `needed` may; nobody's role is null. */
export function isAtLeast(role: Role | null, needed: Role): boolean {
  return role !== null && roles.indexOf(role) >= roles.indexOf(needed);
}

/** The control plane itself, where it acts for nobody. */
export const system: LocalPrincipal = { kind: 'local', name: 'runyard' };
