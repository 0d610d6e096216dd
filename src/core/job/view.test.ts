import { describe, expect, it } from 'vitest';
import { exited, Scenario } from '../scenario.testsuite.ts';
import { viewJob } from './view.ts';

describe('a job as it is shown', () => {
  it('has the keys of the interface, with its tasks and outputs [S5]', () => {
    const at = new Scenario();
    at.join('laptop');
    const id = at.submit({}, { name: 'digits', outputs: ['metrics.jsonl', 'model.npz', 'x'] });
    at.report(at.key(id), exited(0));
    at.report(at.key(id), {
      kind: 'OutputsCollected',
      outputs: [
        { path: 'metrics.jsonl', state: 'collected', sizeBytes: 1234, why: null },
        { path: 'model.npz', state: 'missing', sizeBytes: null, why: null },
        { path: 'x', state: 'refused', sizeBytes: null, why: 'it is a socket' },
      ],
      manifest: 'c'.repeat(64),
      exitCode: 0,
      signal: null,
    });
    const { settings: _, origins: __, ...shown } = viewJob(at.state, at.job(id), at.nowMs);
    expect(shown).toEqual({
      id,
      name: 'digits',
      kind: 'job',
      project: 'default',
      queue: 'default',
      owner: 'ada',
      profile: null,
      service: null,
      replica: null,
      retryOf: null,
      state: 'COMPLETED',
      waiting: null,
      outcome: { reason: 'exit', exitCode: 0, signal: null, message: 'exited with code 0' },
      attempt: 1,
      submittedAt: '2026-01-01T00:00:00.000Z',
      startedAt: '2026-01-01T00:00:00.000Z',
      endedAt: '2026-01-01T00:00:00.000Z',
      spec: { job: { name: 'job' } },
      array: null,
      tasks: [
        {
          index: null,
          rank: 0,
          node: 'laptop',
          attempt: 1,
          step: 'ended',
          devices: [],
          endpoint: null,
          ready: null,
          restarts: 0,
          lastFailure: null,
          notReady: null,
          exitCode: 0,
          signal: null,
          outcome: { reason: 'exit', exitCode: 0, signal: null, message: 'exited with code 0' },
        },
      ],
      outputs: [
        { index: null, path: 'metrics.jsonl', state: 'collected', size: 1234 },
        { index: null, path: 'model.npz', state: 'missing' },
        { index: null, path: 'x', state: 'refused', why: 'it is a socket' },
      ],
    });
  });

  it('lists the tasks of an array in the order of indices, and none in a list of jobs [B4]', () => {
    const at = new Scenario();
    at.join('n1', { cpus: 3 });
    const id = at.submit({ array: { size: 4, maxRunning: null } });
    at.report(at.key(id, 1), exited(1));
    const { tasks, state } = viewJob(at.state, at.job(id), 0);
    expect(tasks.map((task) => [task.index, task.step])).toEqual([
      [0, 'run'],
      [1, 'ended'],
      [2, 'run'],
      [3, 'run'],
    ]);
    expect(state).toBe('RUNNING');
    expect(viewJob(at.state, at.job(id), 0, { full: false }).tasks).toEqual([]);
  });

  it('shows what ended the attempt before while the next one waits and runs [U2]', () => {
    const at = new Scenario();
    at.join('n1');
    const id = at.submit({ retry: { maxAttempts: 2, onExit: [75] } });
    at.report(at.key(id), exited(75));
    expect(viewJob(at.state, at.job(id), at.nowMs).tasks[0]).toMatchObject({
      attempt: 1,
      lastFailure: 'exited with code 75',
    });
    at.pass(1000);
    expect(viewJob(at.state, at.job(id), at.nowMs).tasks[0]).toMatchObject({
      attempt: 2,
      lastFailure: 'exited with code 75',
    });
  });
});
