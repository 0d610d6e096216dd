import { describe, expect, it } from 'vitest';
import { type EndReason, endReasons, exitOutcome, type Outcome } from '../core/reason.ts';
import { exitCodeOf, exitCodeOfAll, exitCodes } from './exit-code.ts';

function outcome(reason: EndReason, exitCode: number | null = null, signal: number | null = null): Outcome {
  return { reason, exitCode, signal, message: reason };
}

describe('the exit code of run, attach and wait', () => {
  it('has a rule for every reason a job can end for [U1]', () => {
    expect(Object.keys(exitCodes).sort()).toEqual(Object.keys(endReasons).sort());
  });

  it.each([0, 1, 3, 75, 126, 127, 255])('is the own code %i of the job [S7] [C16]', (code) => {
    expect(exitCodeOf(exitOutcome({ exitCode: code, signal: null }))).toBe(code);
  });

  it.each([
    [9, 137],
    [15, 143],
  ])('is 128+n for signal %i [S7]', (signal, code) => {
    expect(exitCodeOf(exitOutcome({ exitCode: null, signal }))).toBe(code);
  });

  it("is setup's own code when setup failed [S6] [C17]", () => {
    expect(exitCodeOf(outcome('setup-failed', 3))).toBe(3);
    expect(exitCodeOf(outcome('setup-failed', null, 9))).toBe(137);
  });

  it('is 124 when it timed out, and 125 for every reason that is not its own [U1]', () => {
    expect(exitCodeOf(outcome('timed-out', 143))).toBe(124);
    for (const reason of ['stopped', 'node-lost', 'node-fault', 'gave-up', 'unschedulable'] as const) {
      expect(exitCodeOf(outcome(reason, 0))).toBe(125);
    }
  });

  it('of several jobs is the first that is not zero, in the order given', () => {
    const [good, seven] = [exitOutcome({ exitCode: 0, signal: null }), exitOutcome({ exitCode: 7, signal: null })];
    expect(exitCodeOfAll([good, good])).toBe(0);
    expect(exitCodeOfAll([good, seven, outcome('stopped')])).toBe(7);
    expect(exitCodeOfAll([outcome('stopped'), seven])).toBe(125);
  });
});
