import type { Job, JobId } from './job/job.ts';
import type { Node } from './node/node.ts';
import { PendingQueue } from './placement/pending-queue.ts';
import type { Profile } from './profile/profile.ts';

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
  readonly derived: Derived;
}

export interface Derived {
  readonly pending: PendingQueue;
  /** Supply or demand changed since the last placement pass. */
  placementDue: boolean;
}

export function emptyState(): State {
  return {
    submitted: 0,
    jobs: new Map(),
    nodes: new Map(),
    profiles: new Map(),
    derived: { pending: new PendingQueue(), placementDue: false },
  };
}
