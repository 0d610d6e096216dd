import { describe, expect, it } from 'vitest';
import { exited } from '../scenario.testsuite.ts';
import { applying, gaveUp, ServiceScenario } from './service-scenario.testsuite.ts';

const v2 = { run: 'serve v2' };

/** One node with room, `replicas` of revision 1 ready for long. */
function serving(replicas: number, rollout: object = {}): ServiceScenario {
  return new ServiceScenario(['n1', 0]).running({ replicas, rollout });
}

describe('a rollout', () => {
  it('replaces one after the other: a surge replica first, the old one only for an available new one [X25] [I19] [I20]', () => {
    const at = serving(2);
    const [a = '', b = ''] = at.ids();
    expect(at.apply({ replicas: 2 }, v2)).toEqual({ kind: 'applied', revision: 2, changed: true });
    expect(at.ids(1)).toEqual([a, b]);
    const [c = ''] = at.ids(2);
    expect(at.ids(2)).toEqual([c]);
    at.ready(c);
    at.pass(4999);
    expect(at.ids(1)).toEqual([a, b]);
    at.pass(1);
    expect(at.ids(1)).toEqual([a]);
    expect(at.ids(2)).toEqual([c]);
    at.drain(b);
    const [, d = ''] = at.ids(2);
    expect(at.view.rollout).toMatchObject({ from: 1, to: 2, state: 'progressing', updated: 1, ready: 1 });
    at.ready(d);
    at.pass(5000);
    expect(at.ids()).toEqual([c, d]);
    expect(at.view.rollout?.state).toBe('progressing');
    at.drain(a);
    expect(at.view).toMatchObject({ state: 'RUNNING', revision: 2, rollout: { state: 'done', updated: 2 } });
    expect(at.ids()).toEqual([c, d]);
  });

  it.each([
    { maxSurge: 2, maxUnavailable: 0, starts: 2, keeps: 4 },
    { maxSurge: 0, maxUnavailable: 1, starts: 0, keeps: 3 },
    { maxSurge: 1, maxUnavailable: 2, starts: 1, keeps: 2 },
    { maxSurge: 4, maxUnavailable: 4, starts: 4, keeps: 0 },
    { maxSurge: 9, maxUnavailable: 0, starts: 4, keeps: 4 },
  ])('begins as surge $maxSurge and unavailable $maxUnavailable allow, and ends [X25] [I19] [I20]', (bounds) => {
    const rollout = { maxSurge: bounds.maxSurge, maxUnavailable: bounds.maxUnavailable };
    const at = serving(4, rollout);
    at.apply({ replicas: 4, rollout }, v2);
    expect(at.ids(1)).toHaveLength(bounds.keeps);
    expect(at.ids(2)).toHaveLength(bounds.starts);
    for (let round = 0; round < 12 && at.service.rollout?.state === 'progressing'; round += 1) {
      at.drain();
      at.ready(...at.active(2).flatMap(({ job, readySinceMs }) => (readySinceMs === null ? [job] : [])));
      at.pass(5000);
      expect(at.view.ready).toBeGreaterThanOrEqual(4 - bounds.maxUnavailable);
      expect(at.service.replicas.size).toBeLessThanOrEqual(4 + bounds.maxSurge);
    }
    expect(at.view).toMatchObject({ state: 'RUNNING', ready: 4, rollout: { state: 'done' } });
    expect(at.ids(2)).toHaveLength(4);
  });

  it('keeps the old replica that is available before one that has only just become ready again [X25] [I19]', () => {
    const rollout = { maxUnavailable: 1 };
    const at = serving(2, rollout);
    const [a = '', b = ''] = at.ids();
    at.unready(a);
    at.ready(a);
    at.apply({ replicas: 2, rollout }, v2);
    expect(at.ids(1)).toEqual([b]);
  });

  it('that never becomes ready fails at its deadline with the reason, and touches no old replica [X25] [I21]', () => {
    const at = serving(2);
    const old = at.ids();
    at.apply({ replicas: 2, rollout: { progressDeadlineMs: 30_000 } }, v2);
    at.tell(at.ids(2)[0] ?? '', { kind: 'JobStarted', port: 4 });
    at.unready(at.ids(2)[0] ?? '', 'startup 60 of 60, port 41873 refused; the process listens on 8000');
    at.pass(29_999);
    expect(at.view.rollout?.state).toBe('progressing');
    at.pass(1);
    expect(at.view.rollout).toMatchObject({ state: 'failed', deadlineAt: null });
    expect(at.shown).toMatch(
      /^RUNNING: rollout to revision 2 failed: llm-\S+ not ready: startup 60 of 60, port 41873 refused; the process listens on 8000$/,
    );
    at.pass(600_000);
    expect(at.ids(1)).toEqual(old);
    expect(at.view.replicas.map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
  });

  it('to a version that flaps counts continuous readiness only: the old ones stay [C4] [I19]', () => {
    const at = serving(1);
    const old = at.ids();
    at.apply({ rollout: { minReadyMs: 10_000, progressDeadlineMs: 60_000 } }, v2);
    const [id = ''] = at.ids(2);
    for (let round = 0; round < 8; round += 1) {
      at.ready(id);
      at.pass(5000);
      at.unready(id, '500');
      at.pass(2500);
      expect(at.ids(1)).toEqual(old);
      expect(at.service.rollout?.updated).toBe(0);
    }
    expect(at.shown).toMatch(/^RUNNING: rollout to revision 2 failed: llm-\S+ (not ready: 500|is ready, but not yet)/);
    expect(at.ids(1)).toEqual(old);
  });

  it('that cannot be placed fails for want of capacity, and the old replica keeps serving [C1]', () => {
    const one = { resources: { gpus: 1 } };
    const at = new ServiceScenario(['n1', 1]).running(one);
    const old = at.ids();
    at.apply({ ...one, rollout: { progressDeadlineMs: 30_000 } }, v2);
    expect(at.shown).toMatch(/^UPDATING: no capacity: llm-\S+ needs 1 GPU, all taken where it fits$/);
    at.pass(30_000);
    expect(at.shown).toMatch(/^RUNNING: rollout to revision 2 failed: no capacity: llm-\S+ needs 1 GPU/);
    expect(at.ids(1)).toEqual(old);
    expect(at.view.endpoints).toHaveLength(1);
  });

  it.each([
    { onFailure: 'pause', state: 'failed', revision: 2 },
    { onFailure: 'rollback', state: 'rolled-back', revision: 1 },
  ] as const)('to a missing program ends at its deadline without a person: $state [C3] [I21]', (wanted) => {
    const at = serving(2);
    const old = at.ids();
    const rollout = { progressDeadlineMs: 30_000, onFailure: wanted.onFailure };
    at.apply({ replicas: 2, rollout }, { run: 'serv' });
    let started = 0;
    for (let second = 0; second < 30; second += 1) {
      for (const id of at.ids(2)) {
        started += 1;
        at.tell(id, gaveUp('cannot start: serv: command not found'));
        at.drain(id);
        at.drain(...[...at.service.replicas.keys()].filter((one) => !old.includes(one)));
      }
      at.pass(1000);
    }
    expect(started).toBeGreaterThan(3);
    expect(started).toBeLessThan(8);
    expect(at.view).toMatchObject({ revision: wanted.revision, ready: 2, rollout: { state: wanted.state } });
    expect(at.view.rollout?.reason).toMatch(/llm-\S+ ended: cannot start: serv: command not found/);
    at.pass(600_000);
    expect(at.ids()).toEqual(old);
    expect(at.shown).toMatch(/^RUNNING: /);
  });

  it('rolled back leaves the old replicas as they are and stops the new ones [X25]', () => {
    const at = serving(2);
    const old = at.ids();
    at.apply({ replicas: 2, rollout: { progressDeadlineMs: 10_000, onFailure: 'rollback' } }, v2);
    at.pass(10_000);
    expect(at.ids()).toEqual(old);
    at.drain();
    expect(at.view).toMatchObject({ revision: 1, ready: 2, state: 'RUNNING', rollout: { state: 'rolled-back' } });
    expect(at.apply({ replicas: 2 })).toMatchObject({ revision: 1, changed: false });
  });

  it('of a first revision that fails is FAILED with the reason, and starts anew when it is applied again [X25]', () => {
    const at = new ServiceScenario(['n1', 0]);
    at.apply({ rollout: { progressDeadlineMs: 10_000 } });
    at.ready(...at.ids());
    at.unready(at.ids()[0] ?? '', '500');
    at.pass(10_000);
    expect(at.shown).toMatch(/^FAILED: llm-\S+ not ready: 500$/);
    expect(at.apply({ rollout: { progressDeadlineMs: 10_000 } })).toMatchObject({ revision: 1, changed: true });
    at.ready(...at.ids());
    at.pass(5000);
    expect(at.shown).toBe('RUNNING');
  });

  it('from a revision that never served makes room for the next at once [X25]', () => {
    const one = { resources: { gpus: 1 } };
    const at = new ServiceScenario(['n1', 1]);
    at.apply(one);
    at.apply(one, v2);
    at.drain();
    expect(at.ids(1)).toEqual([]);
    at.say('PauseRollout');
    expect(at.ids(2)).toHaveLength(1);
    at.say('ResumeRollout');
    at.ready(...at.ids(2));
    at.pass(5000);
    expect(at.shown).toBe('RUNNING');
  });

  it('paused moves nothing on, replaces what ends by the old revision, and goes on when it is resumed [X25]', () => {
    const at = serving(2);
    const [a = '', b = ''] = at.ids();
    at.apply({ replicas: 2 }, v2);
    const [c = ''] = at.ids(2);
    at.say('PauseRollout');
    at.ready(c);
    at.pass(3_600_000);
    expect(at.ids()).toEqual([a, b, c]);
    expect(at.shown).toBe('UPDATING: paused by ada');
    at.tell(a, exited(1));
    at.pass(2000);
    expect(at.ids(1)).toEqual([b]);
    at.tell(c, exited(1));
    at.pass(4000);
    expect(at.ids(1)).toHaveLength(2);
    at.say('ResumeRollout');
    expect(at.view.rollout).toMatchObject({ state: 'progressing', deadlineAt: expect.any(String) });
    for (let round = 0; round < 4; round += 1) {
      at.ready(...at.active(2).flatMap(({ job, readySinceMs }) => (readySinceMs === null ? [job] : [])));
      at.pass(5000);
      at.drain();
    }
    expect(at.view).toMatchObject({ state: 'RUNNING', rollout: { state: 'done' } });
    expect(at.refused({ kind: 'PauseRollout', service: 'llm', by: 'ada' }).code).toBe('WRONG_STATE');
  });

  it('failed gives the room of what never came up to the revision that serves [X23] [X25]', () => {
    const at = serving(2);
    const [a = '', b = ''] = at.ids();
    at.apply({ replicas: 2, rollout: { progressDeadlineMs: 10_000 } }, v2);
    at.tell(a, exited(1));
    at.pass(10_000);
    expect(at.view.rollout?.state).toBe('failed');
    at.drain();
    expect(at.ids(1)).toHaveLength(2);
    expect(at.ids(1)).toContain(b);
    expect(at.service.replicas.size).toBeLessThanOrEqual(3);
    at.ready(...at.ids(1).filter((id) => id !== b));
    expect(at.shown).toMatch(/^RUNNING: rollout to revision 2 failed/);
  });

  it('undone in mid-rollout goes back within the same bounds: no available replica is missed [X25] [I19]', () => {
    const at = serving(4);
    at.apply({ replicas: 4 }, v2);
    for (let round = 0; round < 3; round += 1) {
      at.ready(...at.active(2).flatMap(({ job, readySinceMs }) => (readySinceMs === null ? [job] : [])));
      at.pass(5000);
      at.drain();
    }
    expect(at.ids(1)).toHaveLength(1);
    at.undo();
    expect(at.service).toMatchObject({ revision: 1, rollout: { state: 'rolled-back', reason: 'undone by ada' } });
    for (let round = 0; round < 5; round += 1) {
      expect(at.view.ready).toBeGreaterThanOrEqual(4);
      at.ready(...at.active(1).flatMap(({ job, readySinceMs }) => (readySinceMs === null ? [job] : [])));
      at.pass(5000);
      at.drain();
      expect(at.service.replicas.size).toBeLessThanOrEqual(5);
    }
    expect(at.ids(1)).toHaveLength(4);
    expect(at.ids(2)).toEqual([]);
  });

  it('is undone after its end, and to any revision that is kept, by a rollout of its own [X25]', () => {
    const at = serving(1).running({}, v2).running({}, { run: 'serve v3' });
    expect(at.view).toMatchObject({ revision: 3, rollout: { from: 2, to: 3, state: 'done' } });
    at.undo();
    expect(at.view).toMatchObject({ revision: 2, rollout: { from: 3, to: 2, state: 'progressing' } });
    at.undo(1);
    expect(at.view).toMatchObject({ revision: 1, rollout: { from: 3, to: 1, state: 'progressing' } });
    expect(at.ids(3)).toHaveLength(1);
    at.drain();
    at.ready(...at.ids(1));
    at.pass(5000);
    at.drain();
    expect(at.job(at.ids()[0] ?? '').spec.run).toBe('serve v1');
    const unknown = at.refused({ kind: 'UndoRollout', service: 'llm', to: 9, by: 'ada' });
    expect(unknown).toMatchObject({ code: 'NOT_FOUND', hint: 'it has: 1, 2, 3' });
  });

  it('of a first revision has nothing to go back to [I26]', () => {
    const at = serving(1);
    const refusal = at.refused({ kind: 'UndoRollout', service: 'llm', to: null, by: 'ada' });
    expect(refusal).toMatchObject({ code: 'NOT_FOUND', message: 'llm has no revision to go back to' });
    at.say('StopService');
    expect(at.refused({ kind: 'UndoRollout', service: 'llm', to: 1, by: 'ada' }).code).toBe('WRONG_STATE');
  });

  it('overtaken by a second apply goes on from what serves to the newest, and drops what never came up [X25]', () => {
    const at = serving(2);
    const old = at.ids();
    at.apply({ replicas: 2 }, v2);
    const [c = ''] = at.ids(2);
    expect(at.apply({ replicas: 2 }, { run: 'serve v3' })).toMatchObject({ revision: 3 });
    expect(at.view.rollout).toMatchObject({ from: 1, to: 3, state: 'progressing' });
    expect(at.stopping()).toEqual([c]);
    at.drain();
    expect(at.ids(1)).toEqual(old);
    expect(at.ids(3)).toHaveLength(1);
    at.undo();
    at.drain();
    expect(at.ids()).toEqual(old);
  });

  it('is undone by applying in mid-rollout what ran before [X25]', () => {
    const at = serving(2);
    const old = at.ids();
    at.apply({ replicas: 2 }, v2);
    expect(at.apply({ replicas: 2 })).toMatchObject({ revision: 1, changed: true });
    at.drain();
    expect(at.ids()).toEqual(old);
    expect(at.shown).toBe('RUNNING: undone by ada');
    at.apply({ replicas: 2 }, v2);
    expect(at.apply({ replicas: 3, rollout: { maxSurge: 2 } })).toMatchObject({ revision: 1, changed: true });
    expect(at.view).toMatchObject({ revision: 1, desired: 3, rollout: { state: 'rolled-back' } });
    expect(at.service.revisions.get(1)?.settings.rollout.maxSurge).toBe(2);
  });

  it('has settings that change without replacing anything [X25]', () => {
    const at = serving(2);
    const old = at.ids();
    expect(at.apply({ replicas: 2, rollout: { maxSurge: 2 } })).toMatchObject({ revision: 1, changed: true });
    expect(at.apply({ replicas: 2, rollout: { maxSurge: 2 } })).toMatchObject({ revision: 1, changed: false });
    expect(at.ids()).toEqual(old);
    at.apply({ replicas: 3, rollout: { maxSurge: 2 } });
    expect(at.view).toMatchObject({ revision: 1, desired: 3 });
  });

  it('is none for the same content in another order [X20]', () => {
    const spec = (env: Record<string, string>) => ({ env, run: ['serve', '--fast'] });
    const at = new ServiceScenario(['n1', 0]).running({}, spec({ A: '1', B: '2' }));
    expect(at.apply({}, spec({ B: '2', A: '1' }))).toMatchObject({ revision: 1, changed: false });
    expect(at.apply({}, { ...spec({ A: '1', B: '2' }), run: ['--fast', 'serve'] })).toMatchObject({ revision: 2 });
  });

  it('without a variable that the revision before had starts replicas without it [C32]', () => {
    const at = new ServiceScenario(['n1', 0]).running({}, { env: { A: '1', B: '2' } });
    at.apply({}, { env: { B: '2' } });
    expect(at.job(at.ids(2)[0] ?? '').spec.env).toEqual({ B: '2' });
    expect(at.job(at.ids(1)[0] ?? '').spec.env).toEqual({ A: '1', B: '2' });
  });

  it('by restart replaces every replica by one of the same, one after the other [X25]', () => {
    const at = serving(2);
    const old = at.ids();
    at.say('RestartService');
    expect(at.view).toMatchObject({ revision: 2, rollout: { from: 1, to: 2 } });
    expect(at.ids(1)).toEqual(old);
    for (let round = 0; round < 4; round += 1) {
      at.ready(...at.active(2).flatMap(({ job, readySinceMs }) => (readySinceMs === null ? [job] : [])));
      at.pass(5000);
      at.drain();
    }
    expect(at.ids(2)).toHaveLength(2);
    expect(at.apply({ replicas: 2 }).changed).toBe(false);
  });

  it.each(['replace', 'wait'] as const)(
    'ends although an old replica cannot be killed, which counts until it is gone (%s) [I20]',
    (onNodeLoss) => {
      const at = new ServiceScenario(['n1', 0], ['n2', 0]).running({ onNodeLoss });
      const [old = ''] = at.ids();
      const key = at.key(old);
      const { node } = at.task(old);
      at.apply({ onNodeLoss }, v2);
      at.ready(...at.ids(2));
      at.pass(5000);
      at.tell(old, { kind: 'NodeFault', message: 'cannot be killed', held: true });
      expect(at.view).toMatchObject({ state: 'RUNNING', rollout: { state: 'done' } });
      expect(at.service.replicas.get(old)).toMatchObject({ stopping: true, ended: true });
      at.tell(at.ids(2)[0] ?? '', exited(1));
      at.pass(2000);
      expect(at.ids(2)).toHaveLength(1);
      at.step(at.reportOf(node, [], [key]));
      expect(at.service.replicas.has(old)).toBe(false);
    },
  );

  it('whose new replicas are available is done at its deadline, though an old one still stops [I21]', () => {
    const at = serving(1);
    at.apply({ rollout: { progressDeadlineMs: 20_000, onFailure: 'rollback' } }, v2);
    at.ready(...at.ids(2));
    at.pass(5000);
    expect(at.view.rollout?.state).toBe('progressing');
    at.pass(20_000);
    expect(at.view.rollout?.state).toBe('done');
  });

  it('backs off from failing new replicas, though the old ones are stable [X23]', () => {
    const at = serving(2);
    at.pass(120_000);
    at.apply({ replicas: 2 }, v2);
    at.tell(at.ids(2)[0] ?? '', exited(1));
    expect(at.ids(2)).toEqual([]);
    expect(at.service.failures).toBe(1);
    at.pass(500);
    expect(at.ids(2)).toEqual([]);
  });

  it('keeps the revision that it may go back to, however many came after [X28]', () => {
    const at = serving(1);
    for (let version = 2; version < 20; version += 1) {
      at.apply({}, { run: `serve v${version}` });
      at.drain();
    }
    expect(at.view.revisions).toHaveLength(11);
    expect(at.view.rollout).toMatchObject({ from: 1, to: 19 });
    at.undo();
    at.drain();
    expect(at.view).toMatchObject({ revision: 1, ready: 1 });
  });

  it('that no one could finish is refused: ready for longer than the deadline allows [I26]', () => {
    const at = new ServiceScenario(['n1', 0]);
    const rollout = { minReadyMs: 60_000, progressDeadlineMs: 60_000 };
    expect(at.refused(applying({ rollout }))).toMatchObject({ code: 'NEVER_FIRES', path: 'profile.rollout.minReady' });
  });
});
