import { describe, expect, it } from 'vitest';
import { AccessScenario } from '../access/access-scenario.testsuite.ts';
import type { Principal } from '../access/principal.ts';
import { isRefusal, type Refusal } from '../refusal.ts';
import { exited, gpus } from '../scenario.testsuite.ts';
import { type UsageQuery, type UsageView, viewUsage } from './view.ts';

const root: Principal = { kind: 'local', name: 'root' };
const dayMs = 86_400_000;
const started = { kind: 'JobStarted', port: null } as const;

/** Two projects, of which ada may see one, eve the other and vic both. Something ended on day 30, and something runs. */
function scene() {
  const at = new AccessScenario();
  at.nowMs = Date.UTC(2026, 9, 30);
  at.join('n1', { cpus: 64, gpus: gpus('n1', 8) });
  const people = {
    ada: at.user('ada', { ml: 'member' }),
    eve: at.user('eve', { web: 'admin' }),
    vic: at.user('vic', { ml: 'viewer', web: 'viewer' }),
  };
  const first = at.submit({ resources: { gpus: 2, cpus: 1 } }, {}, { project: 'ml', owner: 'ada' });
  at.pass(10_000);
  at.report(at.key(first), started, exited(0));
  at.nowMs += 3 * dayMs;
  at.submit({ resources: { gpus: 1, cpus: 4 } }, {}, { project: 'web', owner: 'eve' });
  const plain = at.submit({ resources: { cpus: 8 } }, {}, { project: 'ml', owner: 'vic' });
  at.pass(1_000);
  at.report(at.key(plain), started, exited(0));
  const shown = (query: UsageQuery = {}, actor: Principal = root): UsageView => {
    const view = viewUsage(at.state, actor, query, at.nowMs);
    if (isRefusal(view)) throw new Error(`refused: ${view.message}`);
    return view;
  };
  const refused = (query: object, actor: Principal = root): Refusal => {
    const view = viewUsage(at.state, actor, query as UsageQuery, at.nowMs);
    if (!isRefusal(view)) throw new Error(`not refused: ${JSON.stringify(view)}`);
    return view;
  };
  return { at, people, shown, refused };
}

const rows = ({ rows: all }: UsageView) => all.map(({ name, gpuMs, coreMs }) => [name, gpuMs, coreMs]);

describe('the view of GPU and core time', () => {
  it('shows this month until now, what runs included, by project: most GPU time first [X21]', () => {
    const { at, shown } = scene();
    const view = shown();
    expect(view).toMatchObject({ from: '2026-11-01', to: '2026-11-02', by: 'project', project: null });
    expect(rows(view)).toEqual([
      ['web', 1_000, 4_000],
      ['ml', 0, 8_000],
    ]);
    expect(view.total).toEqual({ gpuMs: 1_000, coreMs: 12_000 });
    at.nowMs += 500;
    expect(rows(shown())[0]).toEqual(['web', 1_500, 6_000]);
  });

  it('shows whole days, the first and the last included [X21]', () => {
    const { shown } = scene();
    expect(rows(shown({ from: '2026-10-30' }))).toEqual([
      ['ml', 20_000, 18_000],
      ['web', 1_000, 4_000],
    ]);
    expect(rows(shown({ from: '2026-10-30', to: '2026-10-30' }))).toEqual([['ml', 20_000, 10_000]]);
    expect(rows(shown({ to: '2026-10-31' }))).toEqual([['ml', 20_000, 10_000]]);
    expect(shown({ to: '2026-10-31' }).from).toBe('2026-10-01');
    expect(shown({ from: '2026-10-31', to: '2026-11-01' })).toMatchObject({ rows: [], total: { gpuMs: 0, coreMs: 0 } });
  });

  it('shows owners, or days in their order [X21]', () => {
    const { shown } = scene();
    expect(rows(shown({ from: '2026-10-30', by: 'user' }))).toEqual([
      ['ada', 20_000, 10_000],
      ['eve', 1_000, 4_000],
      ['vic', 0, 8_000],
    ]);
    expect(rows(shown({ from: '2026-10-30', by: 'day', project: 'ml' }))).toEqual([
      ['2026-10-30', 20_000, 10_000],
      ['2026-11-02', 0, 8_000],
    ]);
  });

  it('shows nobody what they may not read, and names no project to them that they may not see [X21] [X29]', () => {
    const { people, shown, refused } = scene();
    const names = (actor: Principal) => rows(shown({ from: '2026-10-30' }, actor)).map(([name]) => name);
    expect([people.ada, people.eve, people.vic].map(names)).toEqual([['ml'], ['web'], ['ml', 'web']]);
    expect(rows(shown({ by: 'user' }, people.ada))).toEqual([['vic', 0, 8_000]]);
    expect(shown({}, people.eve).total).toEqual({ gpuMs: 1_000, coreMs: 4_000 });
    for (const project of ['ml', 'none']) {
      const { code, message } = refused({ project }, people.eve);
      expect([code, message]).toEqual(['NOT_FOUND', `there is no project "${project}"`]);
    }
  });

  it('still shows administrators what a project used that is gone [X21]', () => {
    const { at, people, shown, refused } = scene();
    const boss = at.user('boss', {}, { admin: true });
    at.do({ kind: 'RemoveProject', project: 'ml', by: 'root' });
    expect(rows(shown({ project: 'ml' }, boss))).toEqual([['ml', 0, 8_000]]);
    expect(rows(shown({ project: 'ml', to: '2026-09-30' }, boss))).toEqual([]);
    expect(refused({ project: 'ml' }, people.vic).code).toBe('NOT_FOUND');
    expect(refused({ project: 'none' }, boss).code).toBe('NOT_FOUND');
  });

  it('says in its range how far back it reaches: 400 days [X21]', () => {
    const { at, shown } = scene();
    expect(shown({ from: '2020-01-01' })).toMatchObject({ from: '2025-09-28', to: '2026-11-02' });
    at.nowMs += 400 * dayMs;
    expect(shown({ from: '2020-01-01', to: '2026-11-02' })).toMatchObject({ from: '2026-11-02', to: '2026-11-02' });
    expect(shown({ from: '2020-01-01', to: '2021-01-01' })).toMatchObject({ from: '2020-01-01', rows: [] });
  });

  it('refuses what is no date, no range and nothing to group by, and says what is [X21]', () => {
    const { refused } = scene();
    const told = (query: object) => {
      const { code, message, path } = refused(query);
      return `${code} ${path}: ${message}`;
    };
    expect(told({ from: '2026-02-30' })).toBe(
      'BAD_VALUE from: from is "2026-02-30"; expected a date such as 2026-11-29',
    );
    expect(told({ to: 'x'.repeat(100) })).toMatch(/^BAD_VALUE to: to is "x{37}…"; expected a date/);
    expect(told({ from: '2026-11-03' })).toBe(
      'RANGE from: from is 2026-11-03, which is after 2026-11-02, the last day',
    );
    expect(told({ by: 'week' })).toBe('BAD_VALUE by: by is "week"; expected project or user or day');
  });
});
