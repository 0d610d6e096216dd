import type { JoinNode, NodeReport } from '../core/command.ts';
import type { TaskKey } from '../core/job/job.ts';
import type { Order } from '../core/node/orders.ts';

/** What changed: the order that stands now, or null when nothing is left to do for the attempt. */
export interface OrderChange {
  readonly key: TaskKey;
  readonly order: Order | null;
}

/** The agent's only way to the control plane. Embedded and served mode differ in nothing else. */
export interface AgentChannel {
  /** Throws when the control plane refuses the node. */
  join(hello: Omit<JoinNode, 'kind'>): Promise<void>;
  /** Every order that stands, once; after that what changed. Returns a function that ends it. */
  follow(listener: (changes: readonly OrderChange[]) => void): () => void;
  /** Resolves when the report is durable, with the attempts that are no longer current. Throws when it could not be delivered. */
  report(report: Omit<NodeReport, 'kind' | 'node' | 'instance'>): Promise<readonly TaskKey[]>;
  leave(): Promise<void>;
}
