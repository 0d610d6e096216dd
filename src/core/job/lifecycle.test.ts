import { describe, expect, it } from 'vitest';
import { collected, exited, Scenario } from '../scenario.testsuite.ts';
import type { TaskEvent } from './facts.ts';
import {
  jobMoves,
  judgeEvent,
  type Step,
  type StepNeeds,
  skipTo,
  steps,
  type TaskEventKind,
  transitions,
} from './lifecycle.ts';

const eventKinds = Object.keys(transitions) as TaskEventKind[];
const allNeeds: readonly StepNeeds[] = Array.from({ length: 16 }, (_, bits) => ({
  workspace: (bits & 1) > 0,
  setup: (bits & 2) > 0,
  barrier: (bits & 4) > 0,
  outputs: (bits & 8) > 0,
}));

describe('the table', () => {
  it('judges every event at every step: news where its row says, early before, a repetition after [S3]', () => {
    for (const kind of eventKinds) {
      const at = transitions[kind].at as readonly Step[];
      const first = steps.findIndex((one) => at.includes(one));
      for (const [position, stepName] of steps.entries()) {
        const expected = at.includes(stepName) ? 'news' : position < first ? 'early' : 'repetition';
        expect(`${kind} at ${stepName}: ${judgeEvent(kind, stepName)}`).toBe(`${kind} at ${stepName}: ${expected}`);
      }
    }
  });

  it('takes no event at the end [I13]', () => {
    for (const kind of eventKinds) expect(judgeEvent(kind, 'ended')).toBe('repetition');
  });

  it('never leads back to an earlier step [S3]', () => {
    for (const kind of eventKinds) {
      for (const from of transitions[kind].at) {
        for (const needs of allNeeds) {
          const to = skipTo(transitions[kind].to, needs, transitions[kind].stopsFirst);
          expect(steps.indexOf(to)).toBeGreaterThanOrEqual(steps.indexOf(from));
        }
      }
    }
  });

  it('skips exactly what a job has no use for [S6]', () => {
    for (const needs of allNeeds) {
      for (const mustStop of [false, true]) {
        const used: Record<Step, boolean> = {
          claimed: true,
          materialize: needs.workspace,
          setup: needs.setup,
          prepare: needs.barrier,
          run: true,
          collect: needs.outputs || mustStop,
          ended: true,
        };
        for (const [position, from] of steps.entries()) {
          const expected = steps.slice(position).find((one) => used[one]);
          expect(skipTo(from, needs, mustStop)).toBe(expected);
        }
      }
    }
  });

  it('has moves between the states that people see and none out of the terminal ones [U1] [I13]', () => {
    expect(Object.keys(jobMoves)).toEqual(['PENDING', 'RUNNING', 'COMPLETED', 'FAILED']);
    expect(jobMoves.COMPLETED).toEqual([]);
    expect(jobMoves.FAILED).toEqual([]);
  });
});

const full = {
  setup: 'make',
  workspace: { workdir: '.', exclude: [] },
  outputs: ['model'],
} as const;

/** A job with everything, driven to a step by its own events. */
function jobAt(stepName: Exclude<Step, 'claimed' | 'prepare' | 'ended'>): { at: Scenario; id: string } {
  const at = new Scenario();
  at.join('n1');
  const id = at.submit({}, full);
  const path: readonly TaskEvent[] = [
    { kind: 'WorkspaceMaterialized' },
    { kind: 'SetupCompleted', reused: false },
    exited(0),
  ];
  for (const event of path) {
    if (at.task(id).step === stepName) break;
    at.report(at.key(id), event);
  }
  expect(at.task(id).step).toBe(stepName);
  return { at, id };
}

describe('every row of the table of requirements', () => {
  it('JobSubmitted leaves the job PENDING while there is no node [S3] [S2]', () => {
    const at = new Scenario();
    const id = at.submit();
    expect(at.stateOf(id)).toBe('PENDING');
    expect(at.kinds()).toEqual(['JobSubmitted']);
    expect(at.orders()).toEqual([]);
  });

  it('NodeReady commands MaterializeWorkspace and makes the job RUNNING [S3]', () => {
    const { at, id } = jobAt('materialize');
    expect(at.kinds()).toEqual(['NodeJoined', 'JobSubmitted', 'AttemptPlaced', 'NodeReady']);
    expect(at.stateOf(id)).toBe('RUNNING');
    expect(at.orders()).toEqual([`${id}.0.0.1:materialize`]);
  });

  it('WorkspaceMaterialized commands RunSetup, SetupCompleted RunJob, JobExited 0 CollectOutputs [S3] [S6] [S7]', () => {
    for (const stepName of ['setup', 'run', 'collect'] as const) {
      const { at, id } = jobAt(stepName);
      expect(at.orders()).toEqual([`${id}.0.0.1:${stepName}`]);
      expect(at.stateOf(id)).toBe('RUNNING');
    }
  });

  it('OutputsCollected completes the job, which then leaves for the archive [S3] [U1]', () => {
    const { at, id } = jobAt('collect');
    const outputs = [{ path: 'model', state: 'collected' as const, sizeBytes: 3, why: null }];
    const from = at.facts.length;
    at.report(at.key(id), { kind: 'OutputsCollected', outputs, manifest: 'b'.repeat(64), exitCode: 0, signal: null });
    expect(at.kinds(from)).toEqual(['OutputsCollected', 'AttemptEnded', 'JobEnded', 'JobArchived']);
    expect(at.stateOf(id)).toBe('COMPLETED');
    expect(at.state.jobs.size).toBe(0);
    expect(at.task(id).outputs).toEqual(outputs);
    expect(at.job(id).outcome).toEqual({ reason: 'exit', exitCode: 0, signal: null, message: 'exited with code 0' });
    expect(at.state.nodes.get('n1')?.allocations.size).toBe(0);
  });

  it('SetupFailed collects what there is and fails with the line; run never starts [S6] [C17]', () => {
    const { at, id } = jobAt('setup');
    const line = { number: 1, text: 'false' };
    at.report(at.key(id), { kind: 'SetupFailed', exitCode: 1, signal: null, line, detail: null });
    expect(at.orders()).toEqual([`${id}.0.0.1:collect`]);
    expect(at.stateOf(id)).toBe('RUNNING');
    at.report(at.key(id), collected);
    expect(at.stateOf(id)).toBe('FAILED');
    expect(at.job(id).outcome?.reason).toBe('setup-failed');
    expect(at.job(id).outcome?.message).toBe('setup exited with code 1 at line 1: false');
    expect(at.orders()).toEqual([]);
  });

  it('a non-zero exit is decided at the exit and FAILED once outputs are collected [S7] [C16]', () => {
    const { at, id } = jobAt('run');
    at.report(at.key(id), exited(3));
    expect(at.live(id).verdict?.exitCode).toBe(3);
    expect(at.live(id).stop).toBeNull();
    at.report(at.key(id), collected);
    expect(at.job(id).outcome).toEqual({ reason: 'exit', exitCode: 3, signal: null, message: 'exited with code 3' });
    expect(at.task(id).exitCode).toBe(3);
  });

  it.each(['materialize', 'setup', 'run'] as const)(
    'OperatorStop at %s stops first, then collects, then fails [S8] [C30]',
    (stepName) => {
      const { at, id } = jobAt(stepName);
      at.do({ kind: 'StopJob', job: id, indices: null, by: 'ada', graceMs: 5000 });
      expect(at.orders()).toEqual([`${id}.0.0.1:collect`]);
      expect(at.live(id).stop).toEqual({ graceMs: 5000 });
      expect(at.stateOf(id)).toBe('RUNNING');
      at.report(at.key(id), collected);
      expect(at.job(id).outcome).toMatchObject({ reason: 'stopped', message: 'stopped by ada' });
    },
  );

  it('OperatorStop after the exit changes neither verdict nor step [S7]', () => {
    const { at, id } = jobAt('collect');
    at.do({ kind: 'StopJob', job: id, indices: null, by: 'ada', graceMs: null });
    expect(at.live(id).stop).toBeNull();
    at.report(at.key(id), collected);
    expect(at.stateOf(id)).toBe('COMPLETED');
  });

  it.each([
    [{ kind: 'TimedOut', timeoutMs: 1000 }, 'timed-out'],
    [{ kind: 'GaveUp', message: 'restarted 3 times' }, 'gave-up'],
  ] as const)('%o stops first, then collects, then fails [S3]', (event, reason) => {
    const { at, id } = jobAt('run');
    at.report(at.key(id), event);
    expect(at.live(id).stop).toEqual({ graceMs: 30_000 });
    expect(at.orders()).toEqual([`${id}.0.0.1:collect`]);
    at.report(at.key(id), collected);
    expect(at.job(id).outcome?.reason).toBe(reason);
    expect(at.stateOf(id)).toBe('FAILED');
  });

  it('OperatorStop and Unschedulable end a PENDING job at once, without a command [S3]', () => {
    for (const kind of ['StopJob', 'FailUnschedulable'] as const) {
      const at = new Scenario();
      const id = at.submit();
      at.do(
        kind === 'StopJob'
          ? { kind, job: id, indices: null, by: 'ada', graceMs: null }
          : { kind, job: id, message: 'no node has a GPU' },
      );
      expect(at.kinds().slice(1)).toEqual([
        kind === 'StopJob' ? 'OperatorStop' : 'Unschedulable',
        'JobEnded',
        'JobArchived',
      ]);
      expect(at.stateOf(id)).toBe('FAILED');
      expect(at.job(id).outcome?.reason).toBe(kind === 'StopJob' ? 'stopped' : 'unschedulable');
    }
  });

  it('Unschedulable is not said of what runs [S3]', () => {
    const { at, id } = jobAt('run');
    at.do({ kind: 'FailUnschedulable', job: id, message: 'never' });
    expect(at.stateOf(id)).toBe('RUNNING');
  });

  it.each(['materialize', 'setup', 'run', 'collect'] as const)(
    'NodeFault at %s ends the attempt without collecting [S3]',
    (stepName) => {
      const { at, id } = jobAt(stepName);
      at.report(at.key(id), { kind: 'NodeFault', message: 'the disk is full', held: false });
      expect(at.stateOf(id)).toBe(stepName === 'collect' ? 'COMPLETED' : 'FAILED');
      // What the exit decided stands, even when its outputs are lost.
      expect(at.job(id).outcome?.reason).toBe(stepName === 'collect' ? 'exit' : 'node-fault');
    },
  );

  it('goes straight to run without workspace and setup, and ends at the exit without outputs [S6]', () => {
    const at = new Scenario();
    at.join('n1');
    const id = at.submit();
    expect(at.orders()).toEqual([`${id}.0.0.1:run`]);
    at.report(at.key(id), exited(7));
    expect(at.stateOf(id)).toBe('FAILED');
    expect(at.job(id).outcome?.exitCode).toBe(7);
  });
});
