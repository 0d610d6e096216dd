import { describe, expect, it } from 'vitest';
import { Quantiles } from './quantiles.ts';
import { Timeline } from './timeline.ts';

describe('quantiles', () => {
  it('are off by one percent at most, however many values there were', () => {
    const quantiles = new Quantiles();
    for (let value = 1; value <= 10_000; value += 1) quantiles.add(value);
    expect(Math.abs(quantiles.at(0.5) / 5000 - 1)).toBeLessThan(0.011);
    expect(Math.abs(quantiles.at(0.95) / 9500 - 1)).toBeLessThan(0.011);
    expect([quantiles.max, quantiles.count]).toEqual([10_000, 10_000]);
    expect(quantiles.at(1)).toBeLessThanOrEqual(10_000);
  });

  it('are 0 where there is nothing, or nothing but 0', () => {
    const quantiles = new Quantiles();
    expect([quantiles.at(0.5), quantiles.max]).toEqual([0, 0]);
    quantiles.add(0, 5);
    expect(quantiles.at(0.95)).toBe(0);
  });

  it('count a value for as long as it was so', () => {
    const quantiles = new Quantiles();
    quantiles.add(10, 99);
    quantiles.add(1000, 1);
    expect(quantiles.at(0.95)).toBeCloseTo(10, 0);
  });
});

describe('a timeline', () => {
  it('keeps the mean of each bin, and at most 512 of them however long it gets', () => {
    const timeline = new Timeline();
    const channel = timeline.channel();
    timeline.change(channel, 4);
    timeline.pass(1500);
    timeline.change(channel, -4);
    timeline.pass(2000);
    expect(timeline.series(channel)).toEqual({ binMs: 1000, values: [4, 2] });
    timeline.change(channel, 8);
    timeline.pass(3_600_000);
    const { binMs, values } = timeline.series(channel);
    expect(binMs).toBe(8000);
    expect(values).toHaveLength(450);
    expect(values[0]).toBe((4 * 1500 + 8 * 6000) / 8000);
    expect(new Set(values.slice(1))).toEqual(new Set([8]));
  });

  it('knows of figures that came later that they were 0 before', () => {
    const timeline = new Timeline();
    timeline.pass(1000);
    const late = timeline.channel();
    timeline.change(late, 3);
    timeline.pass(2000);
    expect(timeline.series(late).values).toEqual([0, 3]);
  });
});
