import { describe, expect, it } from 'vitest';
import { Draws } from './draw.ts';
import type { Spread } from './plan.ts';

const hourMs = 3_600_000;

function sample(spread: Spread): readonly number[] {
  const draws = new Draws(1);
  return Array.from({ length: 5000 }, (_, number) => draws.spreadMs(spread, `x.${number}`));
}

const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

describe('what is drawn', () => {
  it.each([
    ['near its minimum', { minMs: 0, meanMs: hourMs, maxMs: 24 * hourMs }],
    ['in the middle', { minMs: hourMs, meanMs: 2 * hourMs, maxMs: 3 * hourMs }],
    ['near its maximum', { minMs: 0, meanMs: 5 * hourMs, maxMs: 6 * hourMs }],
  ])('has the mean that was asked for, %s, and stays between the ends', (_where, spread) => {
    const values = sample(spread);
    expect(Math.abs(meanOf(values) / spread.meanMs - 1)).toBeLessThan(0.05);
    expect(Math.min(...values)).toBeGreaterThanOrEqual(spread.minMs);
    expect(Math.max(...values)).toBeLessThanOrEqual(spread.maxMs);
  });

  it('is always the same where the ends are, or the mean is one of them', () => {
    expect(new Set(sample({ minMs: 5, meanMs: 5, maxMs: 5 }))).toEqual(new Set([5]));
    expect(Math.max(...sample({ minMs: 5, meanMs: 5, maxMs: 1000 }))).toBeLessThanOrEqual(25);
    expect(Math.min(...sample({ minMs: 0, meanMs: 1000, maxMs: 1000 }))).toBeGreaterThanOrEqual(980);
  });

  it('depends on the seed and on its own name alone [I6]', () => {
    const [a, b, other] = [new Draws(1), new Draws(1), new Draws(2)];
    b.fraction('something else');
    expect(a.fraction('x')).toBe(b.fraction('x'));
    expect(a.fraction('x')).not.toBe(other.fraction('x'));
  });

  it('fails as often as the share says, with the code', () => {
    const draws = new Draws(3);
    const codes = Array.from({ length: 4000 }, (_, number) => draws.exitCode({ share: 0.25, code: 75 }, `e.${number}`));
    const failed = codes.filter((code) => code === 75).length;
    expect(codes.every((code) => code === 0 || code === 75)).toBe(true);
    expect(failed / 4000).toBeCloseTo(0.25, 1);
  });

  it('waits without memory: with the mean, and often for less', () => {
    const draws = new Draws(4);
    const waits = Array.from({ length: 5000 }, (_, number) => draws.waitMs(hourMs, `w.${number}`));
    expect(Math.abs(meanOf(waits) / hourMs - 1)).toBeLessThan(0.05);
    expect(waits.filter((waitMs) => waitMs < hourMs).length / 5000).toBeCloseTo(0.632, 1);
  });
});
