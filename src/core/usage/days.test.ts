import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dayOf, dayText, parseDay, portionsByDay, startOfMonth } from './days.ts';

const dayMs = 86_400_000;

describe('days in UTC', () => {
  it('are written and read as dates, and nothing else is read as one [X21]', () => {
    expect(dayText(dayOf(Date.UTC(2026, 10, 29, 23, 59)))).toBe('2026-11-29');
    expect(parseDay('2028-02-29')).toBe(dayOf(Date.UTC(2028, 1, 29)));
    for (const text of ['', '2026-2-3', '2026-02-30', '2026-13-01', '29.11.2026', '2026-11-29T00:00:00Z', 'today']) {
      expect(parseDay(text), text).toBeNull();
    }
    fc.assert(fc.property(fc.integer({ min: 0, max: 60_000 }), (day) => parseDay(dayText(day)) === day));
  });

  it('begin a month on its first', () => {
    expect(dayText(startOfMonth(dayOf(Date.UTC(2026, 10, 29))))).toBe('2026-11-01');
    expect(dayText(startOfMonth(dayOf(Date.UTC(2027, 0, 1))))).toBe('2027-01-01');
  });

  it('share a stretch of time out without a rest: none is lost, none counted twice [X21]', () => {
    const time = fc.integer({ min: 0, max: 300 * dayMs });
    fc.assert(
      fc.property(time, time, (fromMs, toMs) => {
        const portions = [...portionsByDay(fromMs, toMs)];
        expect(portions.reduce((sum, { ms }) => sum + ms, 0)).toBe(Math.max(0, toMs - fromMs));
        expect(new Set(portions.map(({ day }) => day)).size).toBe(portions.length);
        for (const { ms } of portions) expect(ms > 0 && ms <= dayMs).toBe(true);
      }),
    );
  });
});
