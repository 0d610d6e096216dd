import { describe, expect, it } from 'vitest';
import { ServiceScenario } from './service-scenario.testsuite.ts';

const yearMs = 365 * 24 * 3_600_000;

describe('replicas of a service', () => {
  it.each([0, 1, 2])('are equals: when that of index %i ends, one more comes and the others stay [X22]', (index) => {
    const at = new ServiceScenario(['n1', 0]).running({ replicas: 3 });
    const gone = at.ids()[index] ?? '';
    const others = at.ids().filter((id) => id !== gone);
    at.do({ kind: 'StopJob', job: gone, indices: null, by: 'ada', graceMs: null });
    at.drain();
    expect(at.ids()).toEqual([...others, expect.not.stringMatching(gone)]);
    expect(new Set(at.active().map((replica) => replica.index)).size).toBe(3);
    expect(at.view).toMatchObject({ desired: 3, ready: 2, state: 'WAITING' });
  });

  it('run without limit unless one is written [X9] [G5]', () => {
    const at = new ServiceScenario(['n1', 0]).running({ replicas: 2 });
    const before = at.ids();
    at.pass(yearMs);
    expect(at.ids()).toEqual(before);
    expect(at.view).toMatchObject({ state: 'RUNNING', ready: 2 });
  });
});
