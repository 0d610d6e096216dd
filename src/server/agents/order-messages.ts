import type { OrderNews } from '../../agent/channel.ts';
import type { ServerMessage } from '../../wire/agent-protocol.ts';

/** So few orders fit into one message whatever they are, and are not measured. */
const fewOrders = 16;
const partLength = 4 * 1024 * 1024;

/**
 * What a node is told, in messages that it can take: a spec may be large, and a node may have many tasks of it. Orders
 * that stand and have no room in the welcome go before it, so that the agent has all of them when it comes.
 */
export function orderMessages(
  news: OrderNews,
  welcome: Omit<Extract<ServerMessage, { kind: 'welcome' }>, 'kind' | 'orders'>,
): readonly ServerMessage[] {
  if (news.kind === 'changes') {
    return splitByLength(news.changes).map((changes) => ({ kind: 'orders', changes: [...changes] }));
  }
  const parts = splitByLength(news.orders);
  return parts.map((part, at) => {
    const orders = [...part];
    return at < parts.length - 1 ? { kind: 'standing', orders } : { kind: 'welcome', ...welcome, orders };
  });
}

/** In order, with none left out; at least one part. */
export function splitByLength<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  if (items.length <= fewOrders) return [items];
  const parts: Item[][] = [];
  let part: Item[] = [];
  let length = 0;
  for (const item of items) {
    const itemLength = JSON.stringify(item).length;
    if (part.length > 0 && length + itemLength > partLength) {
      parts.push(part);
      [part, length] = [[], 0];
    }
    part.push(item);
    length += itemLength;
  }
  return [...parts, part];
}
