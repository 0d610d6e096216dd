import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createNodeTimers } from './timers.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('waits longer than Node can, to the millisecond', () => {
  const fired = vi.fn();
  const delayMs = 3 * 2 ** 31;
  createNodeTimers().after(delayMs, fired);
  vi.advanceTimersByTime(delayMs - 1);
  expect(fired).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(fired).toHaveBeenCalledTimes(1);
});

it('never fires once cancelled, at whatever stage of a long wait', () => {
  const fired = vi.fn();
  const cancel = createNodeTimers().after(3 * 2 ** 31, fired);
  vi.advanceTimersByTime(2 ** 32);
  cancel();
  vi.advanceTimersByTime(2 ** 34);
  expect(fired).not.toHaveBeenCalled();
});
