import type { Fact } from '../fact.ts';
import { parseTaskKey } from '../job/job.ts';
import type { State } from '../state.ts';
import type { Node } from './node.ts';

/** What is still on nodes that must be empty by now is stopped; its next attempt goes elsewhere. */
export function overdueDrains(state: State, nowMs: number): readonly Fact[] {
  return [...state.nodes.values()].flatMap((node) => {
    const dueMs = drainDueMs(state, node);
    return dueMs !== null && dueMs <= nowMs ? evictions(state, node) : [];
  });
}

/** Log time at which something on the node is stopped by its drain; null when nothing is. */
export function drainDueMs(state: State, node: Node): number | null {
  const dueMs = node.drain?.deadlineAtMs ?? null;
  return dueMs === null || evictions(state, node).length === 0 ? null : dueMs;
}

/** One for each attempt that is there and has no end in sight. */
function evictions(state: State, { name, drain, allocations }: Node): readonly Fact[] {
  const facts = new Map<string, Fact>();
  for (const task of allocations.keys()) {
    const key = parseTaskKey(task);
    const element = key === null ? undefined : state.jobs.get(key.job)?.elements.get(key.index);
    if (key === null || element?.kind !== 'live' || element.attempt !== key.attempt || element.verdict !== null)
      continue;
    const { job, index, attempt } = key;
    const message = `node ${name} had to be empty by now (${drain?.reason ?? 'drained'})`;
    facts.set(`${job}.${index}`, { kind: 'Evicted', job, index, attempt, message });
  }
  return [...facts.values()];
}
