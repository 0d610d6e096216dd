import { describe, expect, it } from 'vitest';
import { broken, history, wholeLife } from './histories.testsuite.ts';
import { overdue, readySeq, saidUnready } from './of-services.testsuite.ts';

describe('the checkers of services', () => {
  it.each([null, readySeq])('find nothing where a stranger on its port was taken for the run [X6] (%s)', (openSeq) => {
    expect(broken(saidUnready(openSeq))).not.toContain('X6');
  });

  it('find nothing where the log is ahead of time that truly passed: nobody had any to look [I21]', () => {
    expect(broken(overdue(() => 0))).not.toContain('I21');
  });

  it('find nothing in what is told late of a run before the one that lives [X6]', () => {
    const made = saidUnready(readySeq - 1);
    const earlier = made.truth.processes.findLast((one) => one.attempt === 's-1.0.0.1');
    if (earlier !== undefined) made.truth.processes.unshift({ ...earlier, endMs: 10, endSeq: 1 });
    expect(broken(made)).not.toContain('X6');
  });

  it('find nothing where the last of its failures was asked for just before it listened [X6]', () => {
    expect(broken(saidUnready(readySeq - 1, null))).not.toContain('X6');
  });

  it('find a service that does not stand as it should, and one that goes on writing [I27] [I28]', () => {
    expect(broken(history(wholeLife, (made) => made.unsettled.push('s: 0 of 1 ready')))).toContain('I27');
    const busy = history(wholeLife, (made) => {
      made.steady = { startSeq: 1, endSeq: 2 };
    });
    expect(broken(busy)).toContain('I28');
  });
});
