import { type Access, emptyAccess } from './access/access.ts';
import type { Job, JobId } from './job/job.ts';
import type { Node } from './node/node.ts';
import { FreeCapacities } from './placement/free-capacities.ts';
import { PendingQueue } from './placement/pending-queue.ts';
import { Rankings } from './placement/rankings.ts';
import type { Profile } from './profile/profile.ts';
import type { Secret } from './secrets/secret.ts';
import type { Service } from './service/service.ts';
import type { UsageByDay } from './usage/usage.ts';

/**
 * What is alive, folded from the log. Only `evolve` changes it, in place; whoever cannot commit drops it and folds anew.
 * `derived` follows from the rest and is built again on restore.
 */
export interface State {
  /** Number of jobs ever submitted: the order of submission. */
  submitted: number;
  readonly jobs: Map<JobId, Job>;
  readonly nodes: Map<string, Node>;
  /** Newest revision of each. */
  readonly profiles: Map<string, Profile>;
  readonly services: Map<string, Service>;
  /** By `secretKey`. */
  readonly secrets: Map<string, Secret>;
  readonly access: Access;
  /** What was used by what has ended, or let go of what it held. */
  readonly usage: UsageByDay;
  /** Set while so many nodes are silent together that none is declared lost; log time since. */
  lossHeld: { readonly sinceMs: number } | null;
  readonly derived: Derived;
}

export interface Derived {
  readonly pending: PendingQueue;
  readonly free: FreeCapacities;
  readonly rankings: Rankings;
  /** Keys of the tasks that hold what they were given although their attempt ended. */
  readonly held: Set<string>;
  /** Elements with a task on a lost node about which something changed. */
  readonly lossDue: Map<string, { readonly job: JobId; readonly index: number }>;
  /** A node came, went or fell silent: whether too many are silent together is looked at once the facts at hand are folded. */
  silenceDue: boolean;
  /** Services about which something changed: what follows for them is decided once the facts at hand are folded. */
  readonly servicesDue: Set<string>;
  /** Supply or demand changed since the last placement pass. */
  placementDue: boolean;
}

export function emptyState(): State {
  return {
    submitted: 0,
    jobs: new Map(),
    nodes: new Map(),
    profiles: new Map(),
    services: new Map(),
    secrets: new Map(),
    access: emptyAccess(),
    usage: new Map(),
    lossHeld: null,
    derived: {
      pending: new PendingQueue(),
      free: new FreeCapacities(),
      rankings: new Rankings(),
      held: new Set(),
      lossDue: new Map(),
      silenceDue: false,
      servicesDue: new Set(),
      placementDue: false,
    },
  };
}

/** Whether processes of an ended attempt may still live; `own` is how the keys of its job or element begin. */
export function isHeld(held: ReadonlySet<string>, own: string): boolean {
  for (const task of held) if (task.startsWith(own)) return true;
  return false;
}
