import { describe, expect, it } from 'vitest';
import type { History } from '../history.ts';
import { checkers } from './all.ts';
import { check } from './checker.ts';
import { broken, gaveUp, history, joined, runOf, signalOf, submitted, wholeLife } from './histories.testsuite.ts';
import { restarted, supervised } from './of-restarts.testsuite.ts';

/** A run that listens after 5 s only, is probed from its start on, and is told to end at each of these times. */
function slowStarter(signalsMs: readonly number[]): History {
  const ask = { kind: 'tcp' } as const;
  const liveness = { ask, intervalMs: 1000, timeoutMs: 500, failures: 3, successes: 1, initialDelayMs: 0 };
  const facts = [joined, submitted('a-1', { liveness, graceMs: 0 }), ...wholeLife.slice(2)];
  return history(facts, ({ truth }) => {
    const cycle = [{ forMs: 1e10, answer: 'ok' }] as const;
    const serves = { runsMs: [1e10], exitCode: 0, opensMs: 5000, elsewhere: false, cycle, missing: false };
    truth.processes.splice(0, 1, runOf({ serves, endMs: 60_000 }));
    truth.signals.push(...signalsMs.map((atMs) => signalOf({ atMs, signal: 'SIGKILL' })));
  });
}

describe('the checkers of restarts', () => {
  it.each([
    ['began before its time, after three failures', supervised(), [0, 1000, 3000, 5000]],
    ['was restarted once more than it may', supervised({ maxRestarts: 1 }), [0, 1000, 4000]],
    [
      'failed more often in a row than it may',
      supervised({ giveUp: { kind: 'failures', failures: 2 } }),
      [0, 1000, 4000],
    ],
    ['was restarted, though nothing is', supervised({ policy: 'never' }), [0, 1000]],
    ['gave up early', [...supervised().slice(0, 4), gaveUp, ...supervised().slice(4)], [0, 1000]],
  ] as const)('find a command that %s [I18]', (_what, facts, startsMs) => {
    expect(broken(restarted(facts, startsMs))).toContain('I18');
  });

  it('find nothing in restarts that come when they are due [I18]', () => {
    const facts = supervised({ maxRestarts: 3, giveUp: { kind: 'failures', failures: 4 } });
    expect(broken(restarted(facts, [0, 1000, 3000, 7000]))).not.toContain('I18');
  });

  it('find nothing where a run that was not alive cannot be killed for long, and is well by then [I16]', () => {
    expect(broken(slowStarter([3000, 40_000, 41_000]))).not.toContain('I16');
  });

  it('find once that a run is killed again and again which was well for long [I16]', () => {
    const found = check(slowStarter([40_000, 41_000]), checkers);
    expect(found.filter((problem) => problem.startsWith('I16'))).toHaveLength(1);
  });
});
