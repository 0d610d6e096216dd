import type { JoinNode, NodeReport } from '../core/command.ts';
import type { TaskKey } from '../core/job/job.ts';
import type { Order } from '../core/node/orders.ts';
import type { ShareRequest } from '../core/secrets/shares.ts';

/** What changed: the order that stands now, or null when nothing is left to do for the attempt. */
export interface OrderChange {
  readonly key: TaskKey;
  readonly order: Order | null;
}

/**
 * `all`: every order that stands; what is not among them is not to run any more. Told first, and again whenever changes
 * may have been missed. `changes`: what is different since then.
 */
export type OrderNews =
  | { readonly kind: 'all'; readonly orders: readonly Order[] }
  | { readonly kind: 'changes'; readonly changes: readonly OrderChange[] };

/** What an agent says of itself and its node. Whether it has a lease is up to the channel. */
export type Hello = Omit<JoinNode, 'kind' | 'leased' | 'wallMs'>;

/** The agent's only way to the control plane. Embedded and served mode differ in nothing else. */
export interface AgentChannel {
  /**
   * Resolves once the control plane has taken the node, and throws when it refuses it. `hello` is asked anew for every
   * later time that the channel has to join, since attempts come and go.
   */
  join(hello: () => Promise<Hello>): Promise<void>;
  /** Tells of orders from the join on. Returns a function that ends it. */
  follow(listener: (news: OrderNews) => void): () => void;
  /** Resolves when the report is durable, with the attempts that are no longer current. Throws when it could not be delivered. */
  report(report: Omit<NodeReport, 'kind' | 'node' | 'instance'>): Promise<readonly TaskKey[]>;
  /**
   * Tells which secrets this node is to seal for nodes that came later; told again until they are reported. Left out
   * where all nodes have one key. Returns a function that ends it.
   */
  followShares?(listener: (requests: readonly ShareRequest[]) => void): () => void;
  leave(): Promise<void>;
}
