import { describe, expect, it } from 'vitest';
import { step } from './engine.ts';
import { contextAt } from './scenario.testsuite.ts';
import { applying } from './service/service-scenario.testsuite.ts';
import { emptyState } from './state.ts';

describe('one step', () => {
  it('stops at a rule that does not make its own condition false, instead of going round for ever [X31]', () => {
    const state = emptyState();
    // Every replica under the same id: none is ever more than one, and two are wanted.
    const context = { ...contextAt(0, state), drawId: () => 'llm-000000' };
    expect(() => step(state, [applying({ replicas: 2 })], context)).toThrow(
      /a rule follows from itself: after \d+ facts of one command there are still .*JobSubmitted/,
    );
  });
});
