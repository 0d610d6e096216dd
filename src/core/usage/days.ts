/** A day of log time in UTC, as the number of days since 1970. */
export type UtcDay = number;

const dayMs = 86_400_000;

/** So many days before today are kept: a year and a month. */
const keptDays = 400;

/** Log time to the day that it is on. */
export function dayOf(ms: number): UtcDay {
  return Math.floor(ms / dayMs);
}

/** The oldest day that is kept now, log time. */
export function oldestDay(nowMs: number): UtcDay {
  return dayOf(nowMs) - keptDays;
}

/** Splits a stretch of log time at midnights; days that are kept no more are left out. */
export function* portionsByDay(fromMs: number, toMs: number): Generator<{ readonly day: UtcDay; readonly ms: number }> {
  let atMs = Math.max(fromMs, oldestDay(toMs) * dayMs);
  while (atMs < toMs) {
    const day = dayOf(atMs);
    const endMs = Math.min(toMs, (day + 1) * dayMs);
    yield { day, ms: endMs - atMs };
    atMs = endMs;
  }
}

/** `2026-11-29`. */
export function dayText(day: UtcDay): string {
  return new Date(day * dayMs).toISOString().slice(0, 10);
}

/** The first day of the month that the day is in. */
export function startOfMonth(day: UtcDay): UtcDay {
  const date = new Date(day * dayMs);
  return dayOf(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1));
}

/** Reads `2026-11-29`; null for anything else, days that no month has included. */
export function parseDay(text: string): UtcDay | null {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return null;
  const ms = Date.parse(`${text}T00:00:00Z`);
  return Number.isNaN(ms) || dayText(dayOf(ms)) !== text ? null : dayOf(ms);
}
