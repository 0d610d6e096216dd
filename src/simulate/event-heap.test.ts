import fc from 'fast-check';
import { expect, it } from 'vitest';
import { EventHeap } from './event-heap.ts';

it('gives events by time, and those of one time in the order in which they were added', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.nat(20), fc.constant(null)), { maxLength: 200 }), (moves) => {
      const heap = new EventHeap<readonly [number, number]>();
      let expected: (readonly [number, number])[] = [];
      for (const [order, atMs] of moves.entries()) {
        if (atMs === null) {
          expect(heap.nextMs).toBe(expected[0]?.[0] ?? null);
          expect(heap.take()).toEqual(expected.shift());
        } else {
          heap.add(atMs, [atMs, order]);
          expected = [...expected, [atMs, order] as const].sort(([a, first], [b, second]) => a - b || first - second);
        }
      }
    }),
  );
});
