import { describe, expect, it } from 'vitest';
import { exited, Scenario, submission } from '../scenario.testsuite.ts';
import { viewJob } from './view.ts';

const array = (size: number, maxRunning: number | null = null) => ({ array: { size, maxRunning } });

function arrayOf(size: number, cpus: number, maxRunning: number | null = null): { at: Scenario; id: string } {
  const at = new Scenario();
  at.join('n1', { cpus });
  return { at, id: at.submit(array(size, maxRunning)) };
}

function liveIndices(at: Scenario, id: string): readonly number[] {
  return [...at.job(id).elements].filter(([, element]) => element.kind === 'live').map(([index]) => index);
}

describe('an array', () => {
  it('is one submission and one fact, whatever its size [B4]', () => {
    const at = new Scenario();
    const id = at.submit(array(1_000_000));
    expect(at.kinds()).toEqual(['JobSubmitted']);
    expect(at.job(id).elements.size).toBe(0);
  });

  it('runs in the order of its indices, as many at once as fit [B4]', () => {
    const { at, id } = arrayOf(5, 2);
    expect(liveIndices(at, id)).toEqual([0, 1]);
    at.report(at.key(id, 1), exited(0));
    expect(liveIndices(at, id)).toEqual([0, 2]);
    at.report(at.key(id, 0), exited(0));
    expect(liveIndices(at, id)).toEqual([2, 3]);
  });

  it('runs no more than maxRunning at once [B4]', () => {
    const { at, id } = arrayOf(6, 4, 2);
    expect(liveIndices(at, id)).toEqual([0, 1]);
    expect(viewJob(at.state, at.job(id), 0).waiting).toEqual({
      reason: 'array-limit',
      message: 'runs 2 at once, as many as it may',
    });
  });

  it('completes when every element has, and counts them meanwhile [B4] [U1]', () => {
    const { at, id } = arrayOf(3, 2);
    at.report(at.key(id, 0), exited(0));
    expect(viewJob(at.state, at.job(id), 0).array).toEqual({
      size: 3,
      pending: 0,
      running: 2,
      completed: 1,
      failed: 0,
    });
    at.report(at.key(id, 1), exited(0));
    at.report(at.key(id, 2), exited(0));
    expect(at.job(id).outcome).toEqual({ reason: 'exit', exitCode: 0, signal: null, message: 'all 3 completed' });
  });

  it('fails with the first failed index in the order of indices, not of time [B4]', () => {
    const { at, id } = arrayOf(3, 3);
    at.report(at.key(id, 2), exited(9));
    at.report(at.key(id, 1), exited(5));
    at.report(at.key(id, 0), exited(0));
    expect(at.job(id).outcome).toEqual({
      reason: 'exit',
      exitCode: 5,
      signal: null,
      message: '2 of 3 failed; the first: exited with code 5',
    });
  });

  it('runs one failed index again and leaves the others alone [U2] [B4]', () => {
    const at = new Scenario();
    at.join('n1', { cpus: 3 });
    const id = at.submit({ ...array(3), retry: { maxAttempts: 2, onExit: [75] } });
    at.report(at.key(id, 1), exited(75));
    at.pass(1000);
    expect([0, 1, 2].map((index) => at.key(id, index).attempt)).toEqual([1, 2, 1]);
  });
});

describe('a part of an array', () => {
  it('runs only the indices that were asked for, under their own numbers [B4]', () => {
    const at = new Scenario();
    at.join('n1');
    const id = at.submit(array(10), {}, { indices: [7, 2], retryOf: 'job-0' });
    expect(liveIndices(at, id)).toEqual([7, 2]);
    at.report(at.key(id, 2), exited(0));
    at.report(at.key(id, 7), exited(1));
    expect(at.job(id).outcome?.message).toBe('1 of 2 failed; the first: exited with code 1');
  });

  it.each([
    ['of no array', {}, [0], 'BAD_VALUE'],
    ['that it does not have', array(3), [3], 'RANGE'],
    ['that are no whole numbers', array(3), [0.5], 'RANGE'],
    ['twice', array(3), [1, 1], 'BAD_VALUE'],
    ['at all', array(3), [], 'BAD_VALUE'],
  ])('is refused for indices %s [R4.9] [I26]', (_, profile, indices, code) => {
    const at = new Scenario();
    expect(at.refused(submission('job-1', profile, {}, { indices })).code).toBe(code);
  });

  it('can be stopped, whether it runs or waits; the rest goes on [S8] [B4]', () => {
    const { at, id } = arrayOf(4, 1);
    at.do({ kind: 'StopJob', job: id, indices: [0, 2], by: 'ada', graceMs: null });
    expect(at.live(id, 0).verdict?.reason).toBe('stopped');
    expect(at.job(id).elements.get(2)?.kind).toBe('ended');
    at.report(at.key(id, 0), { kind: 'OutputsCollected', outputs: [], manifest: null, exitCode: null, signal: 15 });
    for (const index of [1, 3]) at.report(at.key(id, index), exited(0));
    expect(at.job(id).outcome).toMatchObject({
      reason: 'stopped',
      message: '2 of 4 failed; the first: stopped by ada',
    });
    expect(at.task(id, 0).signal).toBe(15);
  });

  it('moves the cursor past what was stopped out of order [B4]', () => {
    const { at, id } = arrayOf(6, 1);
    at.do({ kind: 'StopJob', job: id, indices: [2, 4], by: 'ada', graceMs: null });
    at.do({ kind: 'StopJob', job: id, indices: [1], by: 'ada', graceMs: null });
    expect(at.job(id).cursor).toBe(3);
    at.report(at.key(id, 0), exited(0));
    expect(liveIndices(at, id)).toEqual([3]);
    at.report(at.key(id, 3), exited(0));
    expect(liveIndices(at, id)).toEqual([5]);
    at.report(at.key(id, 5), exited(0));
    expect(at.stateOf(id)).toBe('FAILED');
  });

  it('is refused to be stopped where there is none, and nothing changes [I26]', () => {
    const { at, id } = arrayOf(4, 1);
    for (const index of [4, -1, 1.5, Number.NaN]) {
      expect(at.refused({ kind: 'StopJob', job: id, indices: [index], by: 'ada', graceMs: null }).code).toBe(
        'NOT_FOUND',
      );
    }
  });

  it('is refused to be stopped with a grace that is none [R4.9] [I26]', () => {
    const { at, id } = arrayOf(4, 1);
    for (const graceMs of [-1, Number.NaN, 0.5, 2 ** 60]) {
      expect(at.refused({ kind: 'StopJob', job: id, indices: null, by: 'ada', graceMs }).code).toBe('RANGE');
    }
  });

  it('is stopped with the whole: what waits ends at once, what runs when its processes are gone [S8]', () => {
    const { at, id } = arrayOf(1000, 2);
    at.do({ kind: 'StopJob', job: id, indices: null, by: 'ada', graceMs: null });
    expect(at.job(id).failed).toBe(998);
    expect(at.stateOf(id)).toBe('RUNNING');
    for (const index of [0, 1]) {
      at.report(at.key(id, index), {
        kind: 'OutputsCollected',
        outputs: [],
        manifest: null,
        exitCode: null,
        signal: null,
      });
    }
    expect(at.job(id).outcome?.reason).toBe('stopped');
    expect(at.state.jobs.size).toBe(0);
  });
});
