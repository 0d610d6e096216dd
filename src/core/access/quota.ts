import type { Fact } from '../fact.ts';
import type { Allocation } from '../job/facts.ts';
import { exactCores } from '../node/node.ts';
import { type Refusal, refuse } from '../refusal.ts';
import type { State } from '../state.ts';
import type { Quota } from './access.ts';

/** What the tasks of a project hold on all nodes, those of ended attempts included as long as they may still live. */
export interface Usage {
  gpus: number;
  cores: number;
}

/** How much more each project may take, during one pass of placement. Projects without such a limit cost nothing. */
export class QuotaRoom {
  readonly #state: State;
  #usage: ReadonlyMap<string, Usage> | null = null;

  constructor(state: State) {
    this.#state = state;
  }

  /** True when the project may take this too; then it counts as taken. */
  take(project: string, allocations: readonly Allocation[]): boolean {
    const quota = this.#state.access.projects.get(project)?.quota;
    if (quota === undefined || (quota.gpus === null && quota.cores === null)) return true;
    this.#usage ??= usageByProject(this.#state);
    const usage = this.#usage.get(project) ?? { gpus: 0, cores: 0 };
    const more = sumOf(allocations);
    if (firstOver(quota, usage, more) !== null) return false;
    usage.gpus += more.gpus;
    usage.cores = exactCores(usage.cores + more.cores);
    return true;
  }
}

/** Why its project's quota keeps work that would take so much waiting; null when it does not. */
export function whyOverQuota(state: State, project: string, more: Usage): string | null {
  const quota = state.access.projects.get(project)?.quota;
  if (quota === undefined || (quota.gpus === null && quota.cores === null)) return null;
  const usage = usageByProject(state).get(project) ?? { gpus: 0, cores: 0 };
  const over = firstOver(quota, usage, more);
  if (over === null) return null;
  const { what, limit } = over;
  const needs = `needs ${amount(what, more[what])}, project ${project}`;
  return more[what] > limit
    ? `${needs} may use ${limit} in all`
    : `${needs} uses ${usage[what]} of ${amount(what, limit)}`;
}

/** What every project uses at this moment. */
export function usageByProject(state: State): ReadonlyMap<string, Usage> {
  const usage = new Map<string, Usage>();
  for (const name of state.access.projects.keys()) usage.set(name, { gpus: 0, cores: 0 });
  for (const node of state.nodes.values()) {
    for (const [task, { devices, cpus }] of node.allocations) {
      const project = state.jobs.get(task.slice(0, task.indexOf('.')))?.project;
      const of = project === undefined ? undefined : usage.get(project);
      if (of === undefined) continue;
      of.gpus += devices.length;
      of.cores = exactCores(of.cores + cpus);
    }
  }
  return usage;
}

/** Replicas that the services of a project want, of those that are not stopped. */
export function replicasWanted(state: State, project: string): number {
  let wanted = 0;
  for (const service of state.services.values()) {
    if (service.project === project && service.standing === 'wanted') wanted += service.desired;
  }
  return wanted;
}

/** Refuses one more job in the queue of a project that has as many as it may. */
export function checkQueued(state: State, project: string): Refusal | null {
  const limit = state.access.projects.get(project)?.quota.queued ?? null;
  if (limit === null) return null;
  const waiting = state.derived.pending.countOf(project);
  if (waiting < limit) return null;
  return refuse('QUOTA', `project ${project} has ${waiting} jobs that wait, and may have ${limit}`, {
    path: 'project',
    hint: 'submit again when some of them run',
  });
}

/** Refuses facts that would raise what a project's services want above its quota; fewer replicas are always fine. */
export function checkReplicaQuota(state: State, facts: readonly Fact[]): Refusal | null {
  for (const fact of facts) {
    if (fact.kind !== 'ServiceApplied' && fact.kind !== 'ServiceScaled' && fact.kind !== 'ServiceStarted') continue;
    const known = state.services.get(fact.service);
    const project = known?.project ?? (fact.kind === 'ServiceApplied' ? fact.project : '');
    const limit = state.access.projects.get(project)?.quota.replicas ?? null;
    if (limit === null) continue;
    const before = known?.standing === 'wanted' ? known.desired : 0;
    const desired = desiredAfter(facts, fact.service, known?.desired ?? 0);
    const others = replicasWanted(state, project) - before;
    if (desired <= before || others + desired <= limit) continue;
    const beside = others === 0 ? '' : `, and ${others} are wanted beside ${fact.service}`;
    return refuse(
      'QUOTA',
      `${fact.service} would have ${desired} replicas; project ${project} may have ${limit}${beside}`,
      {
        path: 'profile.replicas',
        hint: 'scale another service down, or ask an administrator for more',
      },
    );
  }
  return null;
}

function desiredAfter(facts: readonly Fact[], service: string, before: number): number {
  let desired = before;
  for (const fact of facts) {
    if (fact.kind !== 'ServiceApplied' && fact.kind !== 'ServiceScaled') continue;
    if (fact.service === service) desired = fact.desired;
  }
  return desired;
}

function firstOver(
  quota: Quota,
  usage: Usage,
  more: Usage,
): { readonly what: 'gpus' | 'cores'; readonly limit: number } | null {
  for (const what of ['gpus', 'cores'] as const) {
    const limit = quota[what];
    // What takes nothing more of it is not held up by it, however much is used already.
    if (limit !== null && more[what] > 0 && exactCores(usage[what] + more[what]) > limit) return { what, limit };
  }
  return null;
}

/** What these would take together. */
export function sumOf(allocations: readonly Allocation[]): Usage {
  let gpus = 0;
  let cores = 0;
  for (const { devices, cpus } of allocations) {
    gpus += devices.length;
    cores = exactCores(cores + cpus);
  }
  return { gpus, cores };
}

function amount(what: 'gpus' | 'cores', value: number): string {
  const unit = what === 'gpus' ? 'GPU' : 'core';
  return `${value} ${unit}${value === 1 ? '' : 's'}`;
}
