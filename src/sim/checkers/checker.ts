import { evolve } from '../../core/evolve.ts';
import type { Fact } from '../../core/fact.ts';
import { emptyState, type State } from '../../core/state.ts';
import type { StoredBatch } from '../../log/batch.ts';
import type { History } from '../history.ts';

/** One promise, and how a history is held to it. */
export interface Checker {
  /** Number of the invariant, or id of the requirement. */
  readonly id: string;
  readonly says: string;
  readonly open: (history: History, report: (problem: string) => void) => Watch;
}

/** What a checker looks at while the log is folded once more, from its first fact. */
export interface Watch {
  /** Before the fact is folded. */
  beforeFact?(fact: Fact, state: State, batch: StoredBatch): void;
  afterBatch?(state: State, batch: StoredBatch): void;
  /** With the state that the whole log gives. */
  finish?(state: State): void;
}

/** `I11: <what the promise is>: <what was found>`, for everything that breaks a promise. */
export function check(history: History, checkers: readonly Checker[]): readonly string[] {
  const problems: string[] = [];
  const watches = checkers.map(({ id, says, open }) =>
    open(history, (problem) => void problems.push(`${id}: ${says}: ${problem}`)),
  );
  const ofFacts = watches.filter((watch) => 'beforeFact' in watch);
  const ofBatches = watches.filter((watch) => 'afterBatch' in watch);
  const state = emptyState();
  for (const batch of history.batches) {
    for (const fact of JSON.parse(batch.factsText) as readonly Fact[]) {
      for (const watch of ofFacts) watch.beforeFact?.(fact, state, batch);
      evolve(state, fact, batch);
    }
    for (const watch of ofBatches) watch.afterBatch?.(state, batch);
  }
  for (const watch of watches) watch.finish?.(state);
  return problems;
}
