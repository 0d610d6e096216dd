import type { AgentChannel } from '../agent/channel.ts';
import { OrderFeed } from '../control/order-feed.ts';
import { ShareFeed } from '../control/share-feed.ts';
import type { TaskKey } from '../core/job/job.ts';
import { isRefusal } from '../core/refusal.ts';
import { type Embedded, execute } from './embedded.ts';
import { RefusalError } from './refusal-error.ts';

/** The agent's way to a control plane in its own process. */
export function createEmbeddedChannel(embedded: Embedded, node: string, instance: string): AgentChannel {
  return {
    async join(hello) {
      await execute(embedded, { kind: 'JoinNode', ...(await hello()), leased: false, wallMs: null });
    },
    follow(listener) {
      const feed = new OrderFeed(embedded.plane, node, listener);
      return () => feed.close();
    },
    async report(report): Promise<readonly TaskKey[]> {
      const answer = await embedded.plane.execute({ kind: 'NodeReport', node, instance, ...report });
      if (isRefusal(answer)) throw new RefusalError(answer);
      return answer.kind === 'reported' ? answer.stale : [];
    },
    followShares(listener) {
      const feed = new ShareFeed(embedded.plane, node, listener);
      return () => feed.close();
    },
    async leave() {
      const answer = await embedded.plane.execute({ kind: 'LeaveNode', node, instance });
      // On a full disk the node is left as a crash leaves it: the next agent joins in its place.
      if (isRefusal(answer) && answer.code !== 'STORE_FULL') throw new RefusalError(answer);
    },
  };
}
