import type { NodeAllocation } from '../node/node.ts';
import type { State } from '../state.ts';
import { oldestDay } from './days.ts';
import { add, chargesOf, type UsageEntry, type Used } from './usage.ts';

/**
 * Charges what a task was given to the project and the owner of its job, from its placement until now, log time. To be
 * called as the allocation is let go of: when it is deleted, or becomes held, after which nobody is charged for it.
 */
export function charge(state: State, task: string, allocation: NodeAllocation, nowMs: number): void {
  for (const entry of chargesOf(state, task, allocation, nowMs)) {
    if (!state.usage.has(entry.day)) forgetBefore(state, oldestDay(nowMs));
    add(usedOf(state, entry), entry);
  }
}

function usedOf({ usage }: State, { day, project, owner }: UsageEntry): Used {
  const projects = entryOf(usage, day, () => new Map());
  const owners = entryOf(projects, project, () => new Map());
  return entryOf(owners, owner, () => ({ gpuMs: 0, coreMs: 0 }));
}

function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

function forgetBefore({ usage }: State, oldest: number): void {
  for (const day of usage.keys()) if (day < oldest) usage.delete(day);
}
