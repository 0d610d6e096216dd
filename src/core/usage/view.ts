import { mayRead, unknownProject } from '../access/authorize.ts';
import type { Principal } from '../access/principal.ts';
import { isRefusal, type Refusal, refuse } from '../refusal.ts';
import type { State } from '../state.ts';
import { dayOf, dayText, oldestDay, parseDay, startOfMonth, type UtcDay } from './days.ts';
import { add, type UsageEntry, type Used, usageEntries } from './usage.ts';

/** What a row stands for. */
export const usageGroups = ['project', 'user', 'day'] as const;
export type UsageGroup = (typeof usageGroups)[number];

/** What to look at; whole days, UTC. */
export interface UsageQuery {
  /** The first day, `2026-11-29`. Default: the first of the month of the last day. */
  readonly from?: string;
  /** The last day, itself included. Default: today. */
  readonly to?: string;
  /** Default: a row for each project. */
  readonly by?: UsageGroup;
  /** Of this project alone. */
  readonly project?: string;
}

/** GPU and core time as `--json`, the API and the SDK show it; in milliseconds, an hour is 3,600,000. */
export interface UsageView {
  readonly from: string;
  readonly to: string;
  readonly by: UsageGroup;
  /** The one that was asked for; null for all that one may see. */
  readonly project: string | null;
  /** Days in their order, others by GPU time, then by core time, most first. What used nothing has none. */
  readonly rows: readonly UsageRow[];
  readonly total: Readonly<Used>;
}

export interface UsageRow extends Readonly<Used> {
  /** Of the project or user, or the day. */
  readonly name: string;
}

/** How a date is written. */
export const dateForm = 'a date such as 2026-11-29';

/** GPU and core time of the projects that they may see, until now, log time. Refuses what is no date, range or project. */
export function viewUsage(state: State, actor: Principal, query: UsageQuery, nowMs: number): UsageView | Refusal {
  const range = readRange(query, nowMs);
  if (isRefusal(range)) return range;
  const { by = 'project', project = null } = query;
  if (!usageGroups.includes(by)) {
    return refuse('BAD_VALUE', `by is ${JSON.stringify(by)}; expected ${usageGroups.join(' or ')}`, { path: 'by' });
  }
  const groups = new Map<string, Used>();
  const total = { gpuMs: 0, coreMs: 0 };
  let isKnown = project === null || state.access.projects.has(project);
  const isSeen = readable(state, actor);
  for (const entry of usageEntries(state, nowMs)) {
    if (!isSeen(entry.project) || (project !== null && entry.project !== project)) continue;
    // Of a project that is gone, what it used is still told.
    isKnown = true;
    if (entry.day < range.from || entry.day > range.to) continue;
    const name = nameOf(entry, by);
    const sum = groups.get(name) ?? { gpuMs: 0, coreMs: 0 };
    groups.set(name, sum);
    add(sum, entry);
    add(total, entry);
  }
  if (project !== null && !(isKnown && isSeen(project))) return unknownProject(state, actor, project);
  const rows = [...groups].map(([name, used]) => ({ name, ...used })).sort(by === 'day' ? byName : byUse);
  return { from: dayText(range.from), to: dayText(range.to), by, project, rows, total };
}

interface DayRange {
  readonly from: UtcDay;
  readonly to: UtcDay;
}

/** A range that begins before what is kept begins with it, so that the answer says what it covers. */
function readRange(query: UsageQuery, nowMs: number): DayRange | Refusal {
  const to = readDay('to', query.to, dayOf(nowMs));
  if (isRefusal(to)) return to;
  const from = readDay('from', query.from, startOfMonth(to));
  if (isRefusal(from)) return from;
  if (from > to) {
    return refuse('RANGE', `from is ${dayText(from)}, which is after ${dayText(to)}, the last day`, {
      path: 'from',
      hint: 'from and to are the first and the last day, in UTC; to is today unless given',
    });
  }
  const oldest = oldestDay(nowMs);
  return { from: to < oldest ? from : Math.max(from, oldest), to };
}

function readDay(key: 'from' | 'to', text: string | undefined, otherwise: UtcDay): UtcDay | Refusal {
  if (text === undefined) return otherwise;
  const day = parseDay(text);
  if (day !== null) return day;
  const shown = JSON.stringify(text.length > 40 ? `${text.slice(0, 37)}…` : text);
  return refuse('BAD_VALUE', `${key} is ${shown}; expected ${dateForm}`, { path: key });
}

/** Whether they may see a project, looked up once for each. */
function readable(state: State, actor: Principal): (project: string) => boolean {
  const known = new Map<string, boolean>();
  return (project) => {
    const seen = known.get(project) ?? mayRead(state, actor, project);
    known.set(project, seen);
    return seen;
  };
}

function nameOf({ project, owner, day }: UsageEntry, by: UsageGroup): string {
  if (by === 'day') return dayText(day);
  return by === 'user' ? owner : project;
}

function byName(a: UsageRow, b: UsageRow): number {
  return a.name < b.name ? -1 : 1;
}

function byUse(a: UsageRow, b: UsageRow): number {
  return b.gpuMs - a.gpuMs || b.coreMs - a.coreMs || byName(a, b);
}
