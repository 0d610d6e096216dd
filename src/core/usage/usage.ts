import { exactCores, type NodeAllocation } from '../node/node.ts';
import type { State } from '../state.ts';
import { portionsByDay, type UtcDay } from './days.ts';

/** What was used of GPUs and cores together: their number times how long, log time. */
export interface Used {
  gpuMs: number;
  coreMs: number;
}

/** What was used, day by day. */
export type UsageByDay = Map<UtcDay, UsageOfDay>;

/** By project, by the owner of the work. */
export type UsageOfDay = Map<string, Map<string, Used>>;

/** What one owner's work used in one project on one day, or a part of it. */
export interface UsageEntry extends Readonly<Used> {
  readonly day: UtcDay;
  readonly project: string;
  readonly owner: string;
}

/** Adds to a sum, in place. */
export function add(sum: Used, { gpuMs, coreMs }: Readonly<Used>): void {
  sum.gpuMs += gpuMs;
  sum.coreMs = exactCores(sum.coreMs + coreMs);
}

/** All that is kept, and what runs as if it ended now, log time. */
export function* usageEntries(state: State, nowMs: number): Generator<UsageEntry> {
  for (const [day, projects] of state.usage) {
    for (const [project, owners] of projects)
      for (const [owner, used] of owners) yield { day, project, owner, ...used };
  }
  for (const node of state.nodes.values()) {
    for (const [task, allocation] of node.allocations) yield* chargesOf(state, task, allocation, nowMs);
  }
}

/** What an allocation has cost its project until now, day by day; nothing once its attempt has let go of it. */
export function* chargesOf(
  state: State,
  task: string,
  { held, sinceMs, devices, cpus }: NodeAllocation,
  nowMs: number,
): Generator<UsageEntry> {
  const job = held ? undefined : state.jobs.get(task.slice(0, task.indexOf('.')));
  if (job === undefined) return;
  const { project, owner } = job;
  for (const { day, ms } of portionsByDay(sinceMs, nowMs)) {
    yield { day, project, owner, gpuMs: devices.length * ms, coreMs: cpus * ms };
  }
}
