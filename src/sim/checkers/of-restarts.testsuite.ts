import type { Fact } from '../../core/fact.ts';
import { defaultRestart, type RestartPolicy } from '../../core/supervision/policy.ts';
import type { History } from '../history.ts';
import { history, joined, runOf, submitted, wholeLife } from './histories.testsuite.ts';

export const restart = { ...defaultRestart, backoff: { initialMs: 1000, maxMs: 30_000 } };
export const supervised = (more: Partial<RestartPolicy> = {}): readonly Fact[] => [
  joined,
  submitted('a-1', { restart: { ...restart, ...more } }),
  ...wholeLife.slice(2),
];

/** A history of one attempt whose run ended with code 1 at each of these times, 10 ms after its start. */
export function restarted(facts: readonly Fact[], startsMs: readonly number[]): History {
  return history(facts, ({ truth }) => {
    const exit = { code: 1, signal: null };
    truth.processes.splice(0, 1, ...startsMs.map((startMs) => runOf({ startMs, endMs: startMs + 10, exit })));
  });
}
