import { describe, expect, it } from 'vitest';
import { AccessScenario, someHash } from './access/access-scenario.testsuite.ts';
import { fromRecords, jobFromRecord, jobToRecord, toRecords } from './records.ts';
import { exited, gpus, Scenario } from './scenario.testsuite.ts';
import { ServiceScenario } from './service/service-scenario.testsuite.ts';
import type { State } from './state.ts';
import { probeDefaults } from './supervision/probe.ts';

/** A state in which every field of every kind of thing has a value of its own. */
function richState(): { at: Scenario; ids: readonly string[] } {
  const at = new Scenario();
  at.do({
    kind: 'ApplyProfile',
    name: 'big',
    values: { priority: 3, resources: { cpus: 2 } },
    source: { a: [1] },
    by: 'ada',
  });
  at.do({ kind: 'SetSecret', project: 'default', name: 's', boxes: { [`${'k'.repeat(43)}=`]: 'Ym94' }, by: 'ada' });
  at.join('n1', { cpus: 8, gpus: gpus('n1', 2), labels: { zone: 'a', $odd: 'x' } });
  // Another agent had spoken for it before.
  for (const instance of ['first', 'second']) at.join('n2', {}, { leased: true, instance });
  at.do({ ...at.reportOf('n1', []), secrets: ['s'] });
  const profile = { retry: { maxAttempts: 3, onExit: [75] }, setupReuse: ['a.txt'], timeoutMs: 60_000 };
  const spec = {
    setup: ['make', 'x'],
    workspace: { workdir: '.', exclude: ['/a'] },
    outputs: ['o'],
    env: { K: { secret: 's' } },
    args: ['y'],
  };
  const full = at.submit(
    { ...profile, resources: { gpus: 1, gpuType: 'H100', gpuMemoryMiB: 1, memoryMiB: 5, labels: { zone: 'a' } } },
    spec,
    {
      profile: 'big',
      retryOf: 'job-0',
      source: { $map: [1], $set: [2], $$: 3, plain: null },
    },
  );
  at.report(
    at.key(full),
    { kind: 'WorkspaceMaterialized' },
    { kind: 'SetupCompleted', reused: false },
    { kind: 'JobStarted', port: 4000 },
  );
  at.report(at.key(full), { kind: 'EndpointOpened', endpoint: '10.0.0.1:4000' }, exited(3));
  at.nowMs += 90_000_000;
  const array = at.submit({ ...profile, array: { size: 6, maxRunning: 3 } }, {}, { indices: [5, 3, 1, 0] });
  at.report(at.key(array, 3), exited(75));
  at.report(at.key(array, 5), exited(0));
  const stopping = at.submit();
  at.do({ kind: 'StopJob', job: stopping, indices: null, by: 'ada', graceMs: 7 });
  const held = at.submit();
  at.report(at.key(held), { kind: 'NodeFault', message: 'unkillable', held: true });
  const waiting = at.submit({ resources: { cpus: 100 } });
  at.leave('n2');
  return { at, ids: [full, array, stopping, held, waiting] };
}

/** A service in the middle of a rollout, with a failure behind it. */
function serviceState(): { at: Scenario } {
  const at = new ServiceScenario(['n1', 0]).running({ startup: { ask: { kind: 'tcp' }, ...probeDefaults } });
  at.apply({}, { env: { B: '2' } });
  at.tell(at.ids(2)[0] ?? '', exited(1));
  return { at };
}

/** Projects, tokens of both kinds, and a node that was let in. */
function accessState(): { at: Scenario } {
  const at = new AccessScenario();
  at.user('ada', { ml: 'operator' }, { lifetimeMs: 60_000, project: 'ml' });
  at.user('boss', {}, { admin: true });
  const quota = { replicas: 8, gpus: 16, cores: 0.5, queued: 1000 };
  at.do({ kind: 'ChangeProject', project: 'ml', quota, everyone: 'viewer', by: 'ada' });
  for (const token of ['join01', 'join02']) {
    at.do({ kind: 'CreateJoinToken', token, hash: someHash, lifetimeMs: 60_000, node: 'n1', by: 'boss' });
  }
  at.do({ kind: 'UseJoinToken', token: 'join01', node: 'n1', keyHash: someHash });
  return { at };
}

const text = (state: State) => toRecords(state).join('\n');

/** Changes every leaf of a value in turn, as a container would hold it, and puts it back. */
function mutateLeaves(
  value: unknown,
  where: string,
  set: ((changed: unknown) => void) | null,
  seen: (where: string) => void,
): void {
  if (value instanceof Map) {
    for (const [key, item] of value)
      mutateLeaves(item, `${where}.${String(key)}`, (changed) => value.set(key, changed), seen);
  } else if (value instanceof Set) {
    value.add('another');
    seen(`${where} with one more`);
    value.delete('another');
  } else if (typeof value === 'object' && value !== null) {
    const holder = value as Record<string, unknown>;
    for (const [key, item] of Object.entries(holder)) {
      if (key === 'derived') continue;
      mutateLeaves(item, `${where}.${key}`, (changed) => Reflect.set(holder, key, changed), seen);
    }
  } else if (set !== null) {
    set(
      typeof value === 'number' ? value + 1 : typeof value === 'string' ? `${value}~` : value === null ? 'set' : !value,
    );
    seen(where);
    set(value);
  }
}

describe('records of the state', () => {
  it.each([richState, serviceState, accessState])(
    'hold every field: whichever is changed, they change [X28] [I5]',
    (build) => {
      const { at } = build();
      const before = text(at.state);
      const leaves: string[] = [];
      mutateLeaves(at.state, 'state', null, (where) => {
        leaves.push(where);
        if (text(at.state) === before) throw new Error(`${where} is not in the records`);
      });
      expect(text(at.state)).toBe(before);
      expect(leaves.length).toBeGreaterThan(40);
    },
  );

  it.each([richState, serviceState, accessState])('give every changed field back as it was [X28]', (build) => {
    const { at } = build();
    mutateLeaves(at.state, 'state', null, (where) => {
      if (text(fromRecords(toRecords(at.state))) !== text(at.state)) throw new Error(`${where} comes back otherwise`);
    });
  });

  it('give the same state, the order of maps and sets included, and what is derived from it [X28]', () => {
    const { at, ids } = richState();
    const restored = fromRecords(toRecords(at.state));
    const { derived, ...kept } = restored;
    const { derived: live, ...expected } = at.state;
    expect(kept).toEqual(expected);
    expect([...(restored.jobs.get(ids[1] ?? '')?.elements.keys() ?? [])]).toEqual([
      ...at.job(ids[1] ?? '').elements.keys(),
    ]);
    expect(derived.held).toEqual(live.held);
    expect(derived.pending.size).toBe(live.pending.size);
    expect(derived.held.size).toBe(1);
  });

  it('keep keys that look like their own marks [R4.19]', () => {
    const { at, ids } = richState();
    const source = JSON.parse('{"__proto__": {"x": 1}, "$map": 1, "$$set": 2, "constructor": 3}') as unknown;
    const id = at.submit({}, {}, { source });
    const restored = fromRecords(toRecords(at.state));
    expect(JSON.stringify(restored.jobs.get(id)?.source)).toBe(JSON.stringify(source));
    expect(restored.jobs.get(ids[0] ?? '')?.source).toEqual({ $map: [1], $set: [2], $$: 3, plain: null });
  });

  it('of one job are plain JSON and come back whole, for the archive [X28]', () => {
    const { at, ids } = richState();
    for (const id of ids) {
      const record = JSON.parse(JSON.stringify(jobToRecord(at.job(id)))) as unknown;
      expect(jobFromRecord(record)).toEqual(at.job(id));
    }
  });

  it('of an unknown kind are refused, not skipped', () => {
    expect(() => fromRecords(['{"kind":"pool","value":{}}'])).toThrow('unknown kind "pool"');
  });
});
