import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeBytes, describeDuration, parseDurationMs, parseSizeMiB, writeDuration, writeSize } from './units.ts';

const tenYearsMs = 10 * 365 * 86_400_000;

describe('durations', () => {
  it('are read as people write them', () => {
    const read = ['90s', '1h30m', '2d', '500ms', '1.5h', '0s', '3650d'].map(parseDurationMs);
    expect(read).toEqual([90_000, 5_400_000, 172_800_000, 500, 5_400_000, 0, tenYearsMs]);
  });

  it('are refused when they are none, or longer than ten years [R4.10]', () => {
    const texts = [
      '',
      '5',
      's',
      '-1s',
      '1 h',
      '1h ',
      '1y',
      '1e3s',
      'NaNs',
      '3651d',
      `${'9'.repeat(400)}d`,
      '.5h',
      '1..5h',
      '1H',
    ];
    for (const text of texts) expect(`${text}: ${parseDurationMs(text)}`).toBe(`${text}: null`);
  });

  it('come back from their shortest writing exactly', () => {
    fc.assert(fc.property(fc.nat({ max: tenYearsMs }), (ms) => parseDurationMs(writeDuration(ms)) === ms));
    expect([0, 1, 90_000, 3_600_000, 86_461_001].map(writeDuration)).toEqual(['0s', '1ms', '1m30s', '1h', '1d1m1s1ms']);
  });

  it('are shown with at most two units', () => {
    const shown = [0, 400, 12_000, 68_000, 7_500_000, 3 * 86_400_000, -5].map(describeDuration);
    expect(shown).toEqual(['0.0 s', '0.4 s', '12 s', '1 min 8 s', '2 h 5 min', '3 d', '0.0 s']);
  });
});

describe('sizes', () => {
  it('are read as people write them, decimal ones rounded up', () => {
    const read = ['16GiB', '500MiB', '1TiB', '1KiB', '500MB', '1.5GiB', '8 GiB', '0MiB'].map(parseSizeMiB);
    expect(read).toEqual([16_384, 500, 1_048_576, 1, 477, 1536, 8192, 0]);
  });

  it('are refused when they are none, or above 2^53 bytes [R4.10]', () => {
    for (const text of ['', '16', 'GiB', '16G', '-1GiB', '1e9GiB', '8193TiB', `${'9'.repeat(400)}TiB`, '16 gib']) {
      expect(`${text}: ${parseSizeMiB(text)}`).toBe(`${text}: null`);
    }
  });

  it('come back from their shortest writing exactly', () => {
    fc.assert(fc.property(fc.nat({ max: 2 ** 30 }), (sizeMiB) => parseSizeMiB(writeSize(sizeMiB)) === sizeMiB));
    expect([0, 500, 16_384, 3 * 1_048_576, 2 ** 33].map(writeSize)).toEqual([
      '0MiB',
      '500MiB',
      '16GiB',
      '3TiB',
      '8192TiB',
    ]);
  });

  it('are shown for people', () => {
    const shown = [0, 812, 1024, 3_250_586, 17_179_869_184, 150.4 * 1024].map(describeBytes);
    expect(shown).toEqual(['0 B', '812 B', '1 KiB', '3.1 MiB', '16 GiB', '150 KiB']);
  });
});
