import { describe, expect, it } from 'vitest';
import { exited } from '../scenario.testsuite.ts';
import { stablePeriodMs } from '../supervision/policy.ts';
import { applying, gaveUp, ServiceScenario } from './service-scenario.testsuite.ts';

describe('a service', () => {
  it('is RUNNING once its replicas are ready, each an ordinary job with its name and index [X20] [X21] [X27]', () => {
    const at = new ServiceScenario(['n1', 0], ['n2', 0]);
    expect(at.apply({ replicas: 2 })).toEqual({ kind: 'applied', revision: 1, changed: true });
    expect(at.shown).toMatch(/^UPDATING: llm-\S+ is starting$/);
    const [first = '', second = ''] = at.ids();
    expect(at.job(first).service).toEqual({ name: 'llm', index: 0, revision: 1 });
    expect(at.job(second).service).toEqual({ name: 'llm', index: 1, revision: 1 });
    at.ready(first, second);
    expect(at.view).toMatchObject({ desired: 2, running: 2, ready: 2, state: 'UPDATING' });
    at.pass(5000);
    expect(at.view).toMatchObject({ state: 'RUNNING', reason: null, rollout: { state: 'done', updated: 2 } });
    expect(at.view.endpoints).toHaveLength(2);
  });

  it('takes the number of replicas that it has where none is written, and one at first [X20]', () => {
    const at = new ServiceScenario(['n1', 0]).running();
    expect(at.view.desired).toBe(1);
    at.scale(3);
    expect(at.apply({ priority: 1 }).changed).toBe(true);
    expect(at.view.desired).toBe(3);
  });

  it('scaled 1 → 8 → 2 stops the not-ready ones first, then the newest [X24]', () => {
    const at = new ServiceScenario(['n1', 0]).running();
    at.scale(8);
    const ids = at.ids();
    expect(ids).toHaveLength(8);
    at.ready(...ids.slice(1).filter((_, position) => position !== 1));
    at.scale(2);
    expect(at.ids()).toEqual([ids[0], ids[1]]);
    expect(at.stopping()).toContain(ids[2]);
    at.drain();
    expect(at.service.replicas.size).toBe(2);
    expect(at.shown).toBe('RUNNING');
  });

  it('scales away a chosen replica in one command, and no other [X24]', () => {
    const at = new ServiceScenario(['n1', 0]).running({ replicas: 2 });
    const [old = '', young = ''] = at.ids();
    at.scale(1, old);
    expect(at.ids()).toEqual([young]);
    at.drain();
    expect([...at.service.replicas.keys()]).toEqual([young]);
    expect(at.refused({ kind: 'ScaleService', service: 'llm', desired: 1, remove: ['llm-x'], by: 'ada' }).code).toBe(
      'NOT_FOUND',
    );
  });

  it.each([-1, 1.5, 65, 1e9, Number.NaN])('refuses %s replicas [R4.9] [R4.10] [I26]', (desired) => {
    const at = new ServiceScenario(['n1', 0]).running();
    expect(at.refused({ kind: 'ScaleService', service: 'llm', desired, remove: [], by: 'ada' }).code).toBe('RANGE');
    expect(at.refused(applying({ replicas: desired })).code).toBe('RANGE');
  });

  it('replaces a replica that was stopped by hand, at once and without counting it as a failure [X26]', () => {
    const at = new ServiceScenario(['n1', 0]).running({ replicas: 2 });
    const [first = '', second = ''] = at.ids();
    at.do({ kind: 'StopJob', job: first, indices: null, by: 'ada', graceMs: null });
    expect(at.ids()).toHaveLength(2);
    expect(at.ids()).toContain(second);
    at.drain();
    expect(at.service).toMatchObject({ failures: 0, backoff: null });
    expect(at.service.replicas.size).toBe(2);
  });

  it('does not replace one that completed, and is COMPLETED when all have [X8]', () => {
    const at = new ServiceScenario(['n1', 0]).running({ replicas: 2, restart: { policy: 'on-failure' } });
    const [first = '', second = ''] = at.ids();
    at.tell(first, exited(0));
    expect(at.ids()).toEqual([second]);
    expect(at.shown).toBe('RUNNING');
    at.tell(second, exited(0));
    expect(at.shown).toBe('COMPLETED');
    expect(at.service.replicas.size).toBe(0);
    expect(at.apply({ replicas: 2, restart: { policy: 'on-failure' } })).toMatchObject({ revision: 1, changed: true });
    expect(at.ids()).toHaveLength(2);
  });

  it('replaces failing replicas with growing delays and says why it waits; a stable period forgets them [X23]', () => {
    const at = new ServiceScenario(['n1', 0]).running();
    for (const [failures, plainMs] of [1000, 2000, 4000, 8000].entries()) {
      const [id = ''] = at.ids();
      at.tell(id, exited(3));
      expect(at.ids()).toEqual([]);
      expect(at.service.failures).toBe(failures + 1);
      expect(at.shown).toMatch(/^WAITING: llm-\S+ ended: exited with code 3; replaced in \d/);
      at.pass(plainMs * 0.79);
      expect(at.ids()).toEqual([]);
      at.pass(plainMs * 0.42);
      expect(at.ids()).toHaveLength(1);
    }
    at.ready(...at.ids());
    at.pass(stablePeriodMs - 1);
    expect(at.service.failures).toBe(4);
    at.pass(1);
    expect(at.service).toMatchObject({ failures: 0, backoff: null });
    expect(at.shown).toBe('RUNNING');
  });

  it('keeps a replica that gave up and goes back to the queue: no second one is started for it [X5]', () => {
    const at = new ServiceScenario(['n1', 0]).running({ restart: { policy: 'always', onGiveUp: 'requeue' } });
    const [id = ''] = at.ids();
    at.tell(id, gaveUp('failed 10 times in a row'));
    at.tell(id, { kind: 'OutputsCollected', outputs: [], manifest: null, exitCode: 1, signal: null });
    expect(at.ids()).toEqual([id]);
    expect(at.shown).toMatch(/^WAITING: llm-\S+ attempt 2 starts in 1\.0 s \(failed 10 times in a row\)$/);
    at.pass(1000);
    at.ready(id);
    expect(at.live(id).attempt).toBe(2);
    expect(at.shown).toBe('RUNNING');
  });

  it('lets no attempt follow a replica that it dismissed, whatever ended it before [X24]', () => {
    const at = new ServiceScenario(['n1', 0]).running({ restart: { policy: 'always', onGiveUp: 'requeue' } });
    const [id = ''] = at.ids();
    at.tell(id, gaveUp('failed 10 times in a row'));
    at.scale(0);
    at.drain();
    expect(at.service.replicas.size).toBe(0);
    at.pass(60_000);
    expect(at.orders()).toEqual([]);
  });

  it('replaces one that gave up for good with backoff, and waits with its reason [X5] [X23]', () => {
    const at = new ServiceScenario(['n1', 0]).running();
    at.tell(at.ids()[0] ?? '', gaveUp('failed 10 times in a row; the last: exited with code 1'));
    at.drain(...at.service.replicas.keys());
    expect(at.shown).toMatch(
      /^WAITING: llm-\S+ ended: failed 10 times in a row; the last: exited with code 1; replaced/,
    );
  });

  it('is STOPPED without replicas, keeps its number, and starts again when it is applied [G5]', () => {
    const at = new ServiceScenario(['n1', 0]).running({ replicas: 2 });
    at.say('StopService');
    expect(at.ids()).toEqual([]);
    expect(at.shown).toBe('STOPPED');
    at.drain();
    expect(at.service.replicas.size).toBe(0);
    at.pass(60_000);
    expect(at.orders()).toEqual([]);
    expect(at.apply({ replicas: 2 })).toMatchObject({ revision: 1, changed: true });
    expect(at.ids()).toHaveLength(2);
    at.ready(...at.ids());
    expect(at.shown).toBe('RUNNING');
    expect(at.apply({ replicas: 2 })).toMatchObject({ revision: 1, changed: false });
  });

  it('started again while its replicas still stop exceeds no bound [I20]', () => {
    const at = new ServiceScenario(['n1', 0]).running({ replicas: 3 });
    at.say('StopService');
    at.apply({ replicas: 3 });
    expect(at.service.replicas.size).toBe(4);
    at.drain();
    expect(at.ids()).toHaveLength(3);
  });

  it('leaves no replica and no order when it is removed, and is another when it is applied again [X26]', () => {
    const at = new ServiceScenario(['n1', 0]).running({ replicas: 2, restart: { policy: 'on-failure' } });
    const [first = '', second = ''] = at.ids();
    at.say('RemoveService');
    expect(at.state.services.size).toBe(0);
    expect(at.orders()).toEqual([`${first}.0.0.1:collect`, `${second}.0.0.1:collect`].sort());
    at.apply({ replicas: 1 });
    at.drain(first, second);
    expect(at.service).toMatchObject({ completed: 0, failures: 0, revision: 1 });
    expect(at.ids()).toHaveLength(1);
    expect(at.state.jobs.size).toBe(1);
  });

  it('is unknown under another name: refused, with the names there are [I26]', () => {
    const at = new ServiceScenario(['n1', 0]).running();
    const refusal = at.refused({ kind: 'StopService', service: 'lm', by: 'ada' });
    expect(refusal).toMatchObject({ code: 'NOT_FOUND', hint: 'there are: llm' });
  });

  it('takes the defaults of work that stays up, and refuses a profile that is for jobs [X1] [G2]', () => {
    const at = new ServiceScenario(['n1', 0]);
    at.apply();
    expect(at.service.revisions.get(1)?.settings).toMatchObject({
      kind: 'service',
      port: true,
      restart: { policy: 'always' },
    });
    const [job, run] = [
      { kind: 'ApplyProfile', name: 'batch', source: null, by: 'ada' } as const,
      applying({}, {}, 'batch'),
    ];
    at.do({ ...job, values: { kind: 'job' } });
    expect(at.refused(run)).toMatchObject({ code: 'BAD_VALUE', path: 'profile.kind' });
  });

  it('keeps what a restart of the control plane would lose, and goes on [X28]', () => {
    const at = new ServiceScenario(['n1', 0]).running({ replicas: 2 });
    const before = at.view;
    at.state = at.replayed();
    expect(at.view).toEqual(before);
  });
});
