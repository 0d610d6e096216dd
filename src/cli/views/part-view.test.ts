import { describe, expect, it } from 'vitest';
import { exitOutcome } from '../../core/reason.ts';
import { jobView, taskView } from '../follow/views.testsuite.ts';
import { jobInFull } from './job-in-full.ts';
import { partView } from './part-view.ts';

const bad = exitOutcome({ exitCode: 3, signal: null });
const array = { size: 3, pending: 1, running: 1, completed: 0, failed: 1 };
const three = jobView({
  state: 'RUNNING',
  startedAt: '2026-01-01T00:00:00.000Z',
  waiting: { reason: 'busy', message: 'needs 4 cores' },
  array,
  attempt: 2,
  tasks: [taskView({ index: 0, attempt: 2 }), taskView({ index: 1, step: 'ended', exitCode: 3, outcome: bad })],
  outputs: [
    { index: 0, path: 'a', state: 'missing' },
    { index: 1, path: 'a', state: 'collected', size: 1 },
  ],
});

describe('one part of a job', () => {
  it('has the state of its index, and its tasks and outputs alone', () => {
    expect(partView(three, 0)).toMatchObject({ state: 'RUNNING', waiting: null, attempt: 2, tasks: [{ index: 0 }] });
    expect(partView(three, 1)).toMatchObject({ state: 'FAILED', outcome: bad, attempt: 1, tasks: [{ exitCode: 3 }] });
    expect(partView(three, 1).outputs).toEqual([{ index: 1, path: 'a', state: 'collected', size: 1 }]);
    expect(partView(three, 2)).toMatchObject({ state: 'PENDING', waiting: three.waiting, attempt: 0, tasks: [] });
  });

  it('has ended with the whole where it was never begun', () => {
    const stopped = { reason: 'stopped', exitCode: null, signal: null, message: 'stopped by ada' } as const;
    const over = { ...three, state: 'FAILED', outcome: stopped, tasks: [] } as const;
    expect(partView(over, 2)).toMatchObject({ state: 'FAILED', outcome: stopped, waiting: null });
  });

  it('shares its state with the other ranks', () => {
    const tasks = [taskView({ rank: 0 }), taskView({ rank: 1, node: 'other' })];
    expect(partView(jobView({ state: 'RUNNING', attempt: 1, tasks }), 1)).toMatchObject({
      state: 'RUNNING',
      attempt: 1,
      tasks: [{ rank: 1, node: 'other' }],
    });
  });

  it('is shown under its own name, without the times and counts of the whole', () => {
    const text = jobInFull(partView(three, 0), 0, null, 0);
    expect(text).toMatch(/^digits-k3f9q2\/0\n {2}state {6}RUNNING/);
    expect(text).not.toMatch(/started|of 3/);
  });
});
