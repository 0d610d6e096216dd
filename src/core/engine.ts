import { authorize } from './access/authorize.ts';
import { type Principal, system } from './access/principal.ts';
import type { Answer, Command } from './command.ts';
import { type DecideContext, decide } from './decide.ts';
import { evolve } from './evolve.ts';
import type { Fact } from './fact.ts';
import { follow } from './follow.ts';
import type { Job } from './job/job.ts';
import { overdueDrains } from './node/drain.ts';
import { followLoss, followSilence } from './node/loss.ts';
import { place } from './placement/place.ts';
import { isRefusal, type Refusal } from './refusal.ts';
import { followService, type RuleContext } from './service/follow.ts';
import type { State } from './state.ts';

/** What one step did: facts in the order they became true, an answer or refusal for each command. */
export interface StepResult {
  readonly facts: readonly Fact[];
  readonly answers: readonly (Answer | Refusal)[];
  /** Jobs that left the state, as they were when they did. */
  readonly archived: readonly Job[];
  /** More would follow; the next step goes on with it. */
  readonly unfinished: boolean;
}

/** Most attempts that one step places: it bounds the step, and the next goes on. */
const mostPlacements = 1024;

/** Facts that follow from facts, from facts …: what any one service needs at most, a few times over. */
const mostWaves = 50;

/**
 * One step: commands → facts → what follows → facts …, then placement. The state is changed in place;
 * whoever cannot commit the facts must drop it. `actors` says by position who sends each command; none is the control plane.
 */
export function step(
  state: State,
  commands: readonly Command[],
  context: DecideContext & RuleContext,
  actors: readonly Principal[] = [],
): StepResult {
  const facts: Fact[] = [];
  const archived: Job[] = [];
  const apply = (first: readonly Fact[]): void => {
    const queue = [...first];
    let waves = 0;
    let waveEnd = queue.length;
    for (let next = 0; next < queue.length; next += 1) {
      if (next === waveEnd) {
        waves += 1;
        waveEnd = queue.length;
        assertBounded(state, waves, queue);
      }
      const fact = queue[next] as Fact;
      facts.push(fact);
      const leaving = fact.kind === 'JobArchived' ? state.jobs.get(fact.job) : undefined;
      evolve(state, fact, context);
      if (leaving !== undefined) archived.push(leaving);
      for (const following of follow(state, fact, context.nowMs)) queue.push(following);
      if (next === queue.length - 1) for (const following of followAll(state, context)) queue.push(following);
    }
  };
  const answers = commands.map((command, position) => {
    const wrong = authorize(state, actors[position] ?? system, command, context.nowMs);
    if (wrong !== null) return wrong;
    const decision = decide(state, command, context);
    if (isRefusal(decision)) return decision;
    apply(decision.facts);
    if (command.kind === 'Tick') {
      apply(overdueDrains(state, context.nowMs));
      apply(elapsed(state, context));
    }
    return decision.answer;
  });
  const unfinished = placeDue(state, context.nowMs, apply);
  return { facts, answers, archived, unfinished };
}

/** Each rule makes its own condition false; one that does not is a bug, and stops here rather than going round for ever (X31). */
function assertBounded(state: State, waves: number, queue: readonly Fact[]): void {
  if (waves <= mostWaves * (1 + state.services.size)) return;
  const last = queue.slice(-8).map((fact) => fact.kind);
  throw new Error(
    `a rule follows from itself: after ${queue.length} facts of one command there are still ${last.join(', ')}`,
  );
}

/** What follows from all that is true by now, once every fact at hand is folded. */
function followAll(state: State, context: RuleContext): readonly Fact[] {
  const facts: Fact[] = [...followLoss(state)];
  if (state.derived.silenceDue) facts.push(...followSilence(state));
  state.derived.silenceDue = false;
  // What services do next depends on what is lost: they are looked at when that is folded.
  return facts.length > 0 ? facts : followServices(state, context);
}

/** What follows for the services that changed. Looked at only when every fact at hand is folded: a plan counts them all. */
function followServices(state: State, context: RuleContext): readonly Fact[] {
  const { servicesDue } = state.derived;
  for (const name of servicesDue) {
    servicesDue.delete(name);
    const facts = followService(state, name, context);
    if (facts.length > 0) return facts;
  }
  return [];
}

/** Time passed: whatever became due by that is looked at. */
function elapsed(state: State, context: RuleContext): readonly Fact[] {
  state.derived.placementDue = true;
  for (const name of state.services.keys()) state.derived.servicesDue.add(name);
  return followServices(state, context);
}

function placeDue(state: State, nowMs: number, apply: (facts: readonly Fact[]) => void): boolean {
  if (!state.derived.placementDue) return false;
  const placed = place(state, nowMs, mostPlacements);
  apply(placed);
  state.derived.placementDue = placed.length === mostPlacements;
  return state.derived.placementDue;
}
