const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Steps that people count time in. */
const steps: readonly number[] = [
  ...[1, 5, 15, 30].map((seconds) => seconds * 1000),
  ...[1, 5, 15, 30].map((minutes) => minutes * minuteMs),
  ...[1, 2, 3, 6, 12].map((hours) => hours * hourMs),
  ...[1, 2, 7, 14, 28, 91, 182, 364].map((days) => days * dayMs),
];
const mostTicks = 8;

export interface Tick {
  readonly atMs: number;
  readonly label: string;
}

/** Where the axis of time is labelled, and how: by the calendar where the start has a date, else by what has passed. */
export function timeTicks(endMs: number, startMs: number | null): readonly Tick[] {
  const stepMs = steps.find((one) => endMs / one <= mostTicks) ?? Math.ceil(endMs / mostTicks / dayMs) * dayMs;
  const first = startMs === null ? 0 : Math.ceil(startMs / stepMs) * stepMs - startMs;
  const ticks: Tick[] = [];
  for (let atMs = first; atMs <= endMs; atMs += stepMs) {
    ticks.push({ atMs, label: startMs === null ? elapsed(atMs) : onCalendar(startMs + atMs) });
  }
  return ticks;
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

function onCalendar(atMs: number): string {
  const date = new Date(atMs);
  if (atMs % dayMs === 0) return `${date.getUTCDate()} ${months[date.getUTCMonth()] ?? ''}`;
  return date.toISOString().slice(11, atMs % minuteMs === 0 ? 16 : 19);
}

function elapsed(ms: number): string {
  if (ms === 0) return 'start';
  if (ms % dayMs === 0) return `${ms / dayMs} d`;
  if (ms >= dayMs) return `${Math.floor(ms / dayMs)} d ${(ms % dayMs) / hourMs} h`;
  if (ms % hourMs === 0) return `${ms / hourMs} h`;
  if (ms % minuteMs === 0) return `${ms / minuteMs} min`;
  return `${ms / 1000} s`;
}

/** The least of 1, 2, 2.5 or 5 times a power of ten that is not below the value. */
export function niceCeiling(value: number): number {
  if (value <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= value) ?? 10) * power;
}
