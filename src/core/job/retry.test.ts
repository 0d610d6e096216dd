import { describe, expect, it } from 'vitest';
import type { OnNodeLoss } from '../profile/settings.ts';
import type { EndReason, Outcome } from '../reason.ts';
import { endReasons } from '../reason.ts';
import { exited, Scenario } from '../scenario.testsuite.ts';
import { nextAttemptAtMs, shellCode } from './retry.ts';

function outcomeOf(reason: EndReason, exitCode: number | null = null, signal: number | null = null): Outcome {
  return { reason, exitCode, signal, message: reason };
}

/** When an attempt with these settings goes on, for a job as the engine has it. */
function nextOf(
  outcome: Outcome,
  options: { maxAttempts: number; onExit?: number[]; onNodeLoss?: OnNodeLoss; attempt?: number },
) {
  const at = new Scenario();
  const { maxAttempts, onExit = [], onNodeLoss = 'replace', attempt = 1 } = options;
  const id = at.submit({ retry: { maxAttempts, onExit }, onNodeLoss });
  return nextAttemptAtMs(at.job(id), attempt, outcome, 5000);
}

describe('which endings are followed by another attempt', () => {
  it('says so for every reason, with attempts left [U2]', () => {
    const again = Object.keys(endReasons).filter(
      (reason) => nextOf(outcomeOf(reason as EndReason, reason === 'exit' ? 1 : null), { maxAttempts: 3 }) !== null,
    );
    expect(again).toEqual(['node-fault', 'node-lost']);
  });

  it('gives one attempt unless the profile says more [U2]', () => {
    for (const reason of ['node-lost', 'node-fault'] as const) {
      expect(nextOf(outcomeOf(reason), { maxAttempts: 1 })).toBeNull();
      expect(nextOf(outcomeOf(reason), { maxAttempts: 2 })).toBe(5000);
      expect(nextOf(outcomeOf(reason), { maxAttempts: 2, attempt: 2 })).toBeNull();
    }
  });

  it('ends with the node when the profile says fail [U2]', () => {
    for (const reason of ['node-lost', 'node-fault'] as const) {
      expect(nextOf(outcomeOf(reason), { maxAttempts: 3, onNodeLoss: 'fail' })).toBeNull();
      expect(nextOf(outcomeOf(reason), { maxAttempts: 3, onNodeLoss: 'wait' })).toBe(5000);
    }
  });

  it('repeats a non-zero exit only where it is named, a signal as 128+n [U2]', () => {
    const options = { maxAttempts: 3, onExit: [75, 137] };
    expect(nextOf(outcomeOf('exit', 75), options)).toBe(6000);
    expect(nextOf(outcomeOf('exit', null, 9), options)).toBe(6000);
    expect(nextOf(outcomeOf('exit', 1), options)).toBeNull();
    expect(nextOf(outcomeOf('exit', 0), { maxAttempts: 3 })).toBeNull();
  });

  it('waits 1 s after the first exit, doubling to 30 s [U2]', () => {
    const delays = [1, 2, 3, 4, 5, 6, 7, 20].map(
      (attempt) => (nextOf(outcomeOf('exit', 75), { maxAttempts: 100, onExit: [75], attempt }) ?? 0) - 5000,
    );
    expect(delays).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
  });

  it('gives codes as a shell does [S7]', () => {
    expect(shellCode({ exitCode: 3, signal: null })).toBe(3);
    expect(shellCode({ exitCode: null, signal: 15 })).toBe(143);
    expect(shellCode({ exitCode: null, signal: null })).toBe(1);
  });
});

describe('the next attempt', () => {
  it('starts after its delay and not before, and says why it waits [U2] [B10]', () => {
    const at = new Scenario();
    at.join('n1');
    const id = at.submit({ retry: { maxAttempts: 3, onExit: [75] } });
    at.report(at.key(id), exited(75));
    expect(at.stateOf(id)).toBe('PENDING');
    at.pass(999);
    expect(at.stateOf(id)).toBe('PENDING');
    at.pass(1);
    expect(at.key(id).attempt).toBe(2);
    expect(at.live(id).lastFailure).toBe('exited with code 75');
    at.report(at.key(id), exited(75));
    at.pass(2000);
    at.report(at.key(id), exited(75));
    expect(at.stateOf(id)).toBe('FAILED');
    expect(at.job(id).elements.get(0)?.attempt).toBe(3);
  });

  it('fences the one before: its reports are stale [I14]', () => {
    const at = new Scenario();
    at.join('n1');
    const id = at.submit({ retry: { maxAttempts: 2, onExit: [] } });
    const old = at.key(id);
    at.report(old, { kind: 'NodeFault', message: 'it could not follow the process', held: false });
    expect(at.key(id).attempt).toBe(2);
    const { answers, facts } = at.step(at.reportOf('n1', [{ ...old, ...exited(0) }]));
    expect(answers).toEqual([{ kind: 'reported', stale: [old] }]);
    expect(facts).toEqual([]);
    expect(at.stateOf(id)).toBe('RUNNING');
  });

  it('ends with the limit of attempts when every node fails at it [C31]', () => {
    const at = new Scenario();
    at.join('n1');
    const id = at.submit({ retry: { maxAttempts: 3, onExit: [] } });
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      at.report(at.key(id), { kind: 'NodeFault', message: 'the agent crashed at its start', held: false });
    }
    expect(at.job(id).outcome).toMatchObject({ reason: 'node-fault', message: 'the agent crashed at its start' });
  });
});
