import { describe, expect, it } from 'vitest';
import { splitByLength } from './order-messages.ts';

const orders = (count: number, length: number) =>
  Array.from({ length: count }, (_, index) => ({ index, text: 'x'.repeat(length) }));

describe('orders for a node', () => {
  it.each([
    [0, 10],
    [1, 10],
    [16, 500_000],
    [17, 2_000_000],
    [300, 900_000],
    [10_000, 500],
  ])('%i of %i characters go in messages that it can take, in order and with none left out [I27]', (count, length) => {
    const all = orders(count, length);
    const parts = splitByLength(all);
    expect(parts.flat().map(({ index }) => index)).toEqual(all.map(({ index }) => index));
    for (const part of parts) expect(part.length * length).toBeLessThanOrEqual(16 * 1024 * 1024);
    expect(parts.length).toBeGreaterThan(0);
  });

  it('are one message as a rule', () => {
    expect(splitByLength(orders(1000, 1000))).toHaveLength(1);
  });
});
