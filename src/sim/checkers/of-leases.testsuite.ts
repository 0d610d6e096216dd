import type { Fact } from '../../core/fact.ts';
import type { History } from '../history.ts';
import { Hearing } from '../served/hearing.ts';
import { history, joined, seal } from './histories.testsuite.ts';

export const leasedNode = (node: string): Fact => ({ ...joined, node, leased: true });
export const suspected = (node: string): Fact => ({ kind: 'NodeSuspected', node });
export const lost = (node: string): Fact => ({ kind: 'NodeDeclaredLost', node, by: null });

/** Four nodes join at once; what is said of them then comes at these times. Servers heard of `a` and began to listen when told so. */
export function leased(
  facts: readonly Fact[],
  timesMs: readonly number[],
  { heardMs = [], beganMs = [] }: { heardMs?: readonly number[]; beganMs?: readonly number[] } = {},
): History {
  const joins = ['a', 'b', 'c', 'd'].map(leasedNode);
  const all = [...joins, ...facts];
  return history(all, (made) => {
    made.batches = seal(all, (index) => timesMs[index - joins.length] ?? 0);
    made.hearing = new Hearing();
    for (const atMs of heardMs) made.hearing.heard('a', 'i', atMs);
    for (const atMs of beganMs) made.hearing.began(atMs);
    made.truth.processes.splice(0);
  });
}
