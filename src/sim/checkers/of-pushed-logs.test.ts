import { describe, expect, it } from 'vitest';
import { broken } from './histories.testsuite.ts';
import { printedAs } from './of-pushed-logs.testsuite.ts';

describe('the checkers of pushed logs', () => {
  it.each([
    ['less than was printed', 'one\n', true],
    ['something that was not', 'other\n', true],
    ['something that was not, of a node that lost its power', 'other\n', true, 'n'],
    ['less, of a node that lost its power', 'one\n', false, 'n'],
    ['all of it', 'one\ntwo\n', false],
  ])('find whether a server has %s [C10]', (_what, text, isWrong, struck = '') => {
    expect(broken(printedAs(text, struck)).includes('C10')).toBe(isWrong);
  });
});
