import { evolve } from '../core/evolve.ts';
import { type Fact, factKinds } from '../core/fact.ts';
import { findTask, jobState } from '../core/job/job.ts';
import { jobMoves, type TaskEventKind, transitions } from '../core/job/lifecycle.ts';
import { refusals } from '../core/refusal.ts';
import { rolloutMoves, serviceStates } from '../core/service/service.ts';
import { stateOf } from '../core/service/view.ts';
import { emptyState, type State } from '../core/state.ts';
import { whyNeverSeen } from './exemptions.ts';
import type { History } from './history.ts';
import { chanceKinds, strikeKinds } from './rates.ts';
import { servedStrikeKinds, wireChanceKinds } from './served/rates.ts';

/** Everything that seeds should bring about: each row of each table of the core, and each kind of fault. */
export function everyRow(): readonly string[] {
  const moves = (what: string, table: Readonly<Record<string, readonly string[]>>): readonly string[] =>
    Object.entries(table).flatMap(([from, all]) => all.map((to) => moveRow(what, from, to)));
  return [
    ...Object.entries(transitions).flatMap(([kind, { at }]) => at.map((step) => transitionRow(kind, step))),
    ...moves('job', jobMoves),
    ...moves('rollout', rolloutMoves),
    ...Object.keys(serviceStates).map((state) => `service ${state}`),
    ...presences.map((kind) => `node ${kind}`),
    ...factKinds.map((kind) => `fact ${kind}`),
    ...Object.keys(refusals).map((code) => `refusal ${code}`),
    ...[...strikeKinds, ...chanceKinds, ...servedStrikeKinds, ...wireChanceKinds].map((kind) => `fault ${kind}`),
  ];
}

/** Rows that are due and were not seen, and rows that were seen though something is said to prevent it. */
export function holdAgainst(
  seen: ReadonlySet<string>,
  due: readonly string[],
): { readonly missing: readonly string[]; readonly needless: readonly string[] } {
  return {
    missing: due.filter((row) => !seen.has(row)),
    needless: [...seen].filter((row) => whyNeverSeen(row) !== null),
  };
}

/** The rows that one history has brought about. */
export function rowsOf({ batches, refusals: refused, faults }: History): ReadonlySet<string> {
  const rows = new Set<string>([
    ...refused.map(({ code }) => `refusal ${code}`),
    ...[...faults].map((kind) => `fault ${kind}`),
  ]);
  const state = emptyState();
  const jobs = new Map<string, string>();
  for (const batch of batches) {
    for (const fact of JSON.parse(batch.factsText) as readonly Fact[]) {
      rows.add(`fact ${fact.kind}`);
      const step = stepOf(fact, state);
      if (step !== null) rows.add(transitionRow(fact.kind, step));
      const rollout = rolloutBefore(fact, state);
      evolve(state, fact, batch);
      noteJob(fact, state, { jobs, rows });
      if (rollout !== null) noteRollout(rollout, state, rows);
    }
    for (const { presence } of state.nodes.values()) rows.add(`node ${presence.kind}`);
    for (const service of state.services.values()) rows.add(`service ${stateOf(state, service, batch.nowMs).state}`);
  }
  return rows;
}

const presences = ['up', 'suspect', 'lost', 'down'] as const;

const moveRow = (what: string, from: string, to: string): string => `${what} ${from} to ${to}`;
const transitionRow = (kind: string, step: string): string => `transition ${kind} at ${step}`;

/** Where the task stands that a fact is about; a fact about a whole attempt is about each of its tasks. */
function stepOf(fact: Fact, state: State): string | null {
  if (!(fact.kind in transitions) || !('job' in fact)) return null;
  const kind = fact.kind as TaskEventKind;
  if ('rank' in fact) return findTask(state.jobs.get(fact.job), fact)?.task.step ?? null;
  const elements = [...(state.jobs.get(fact.job)?.elements.values() ?? [])];
  const at = transitions[kind].at as readonly string[];
  return (
    elements.flatMap((one) => (one.kind === 'live' ? one.tasks : [])).find(({ step }) => at.includes(step))?.step ??
    null
  );
}

function noteJob(fact: Fact, state: State, { jobs, rows }: { jobs: Map<string, string>; rows: Set<string> }): void {
  const job = 'job' in fact ? state.jobs.get(fact.job) : undefined;
  if (job === undefined) return;
  const now = jobState(job);
  const before = jobs.get(job.id) ?? now;
  if (before !== now) rows.add(moveRow('job', before, now));
  jobs.set(job.id, now);
}

interface RolloutBefore {
  readonly service: string;
  readonly to: number;
  readonly state: string;
}

/** Null where a fact moves none: the start of one ends whatever was before it, even one to the same revision. */
function rolloutBefore(fact: Fact, state: State): RolloutBefore | null {
  if (fact.kind === 'RolloutStarted' || !('service' in fact) || typeof fact.service !== 'string') return null;
  const rollout = state.services.get(fact.service)?.rollout ?? null;
  return rollout === null ? null : { service: fact.service, to: rollout.to, state: rollout.state };
}

function noteRollout({ service, to, state: before }: RolloutBefore, state: State, rows: Set<string>): void {
  const rollout = state.services.get(service)?.rollout ?? null;
  if (rollout !== null && rollout.to === to && rollout.state !== before)
    rows.add(moveRow('rollout', before, rollout.state));
}
