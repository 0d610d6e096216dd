import { describe, expect, it } from 'vitest';
import { collected, Scenario } from '../scenario.testsuite.ts';
import { ServiceScenario } from '../service/service-scenario.testsuite.ts';
import { drainDueMs } from './drain.ts';
import { viewNode } from './view.ts';

const minute = 60_000;

function drain(at: Scenario, node: string, deadlineMs: number | null = 10 * minute): void {
  at.do({ kind: 'DrainNode', node, reason: 'new disk', by: 'ada', deadlineMs });
}

const view = (at: Scenario, name: string) => {
  const node = at.state.nodes.get(name);
  if (node === undefined) throw new Error(`no node ${name}`);
  return viewNode(at.state, node, { atMs: at.nowMs, nowMs: at.nowMs });
};

describe('the reason of a drain', () => {
  it.each([
    ['a\x1b[2J', 'BAD_BYTE'],
    ['two\nlines', 'BAD_BYTE'],
    ['x'.repeat(501), 'RANGE'],
  ])('%j is refused: it is shown to everybody, and kept for good [R4.5] [I26]', (reason, code) => {
    const at = new Scenario();
    at.join('n1');
    expect(() => at.do({ kind: 'DrainNode', node: 'n1', reason, by: 'ada', deadlineMs: null })).toThrow(code);
    expect(view(at, 'n1')).toMatchObject({ state: 'READY' });
  });
});

describe('a node that must be empty by a deadline', () => {
  it('lets what runs go on until then, and says when that is [B10]', () => {
    const at = new Scenario();
    at.join('n1');
    const id = at.submit();
    drain(at, 'n1');
    at.pass(10 * minute - 1);
    expect(at.stateOf(id)).toBe('RUNNING');
    expect(at.live(id).verdict).toBeNull();
    expect(view(at, 'n1')).toMatchObject({
      state: 'DRAINING',
      reason: 'new disk',
      drainDeadlineAt: new Date(10 * minute).toISOString(),
    });
  });

  it('stops with its grace what is left, which goes on elsewhere, and says so [X12]', () => {
    const at = new Scenario();
    at.join('n1');
    const id = at.submit({ retry: { maxAttempts: 2, onExit: [] }, graceMs: 7000 }, { outputs: ['out'] });
    const first = at.key(id);
    drain(at, 'n1');
    at.join('n2');
    at.pass(10 * minute);
    expect(at.live(id)).toMatchObject({ stop: { graceMs: 7000 }, verdict: { reason: 'node-lost' } });
    expect(at.orders()).toEqual([`${id}.0.0.1:collect`]);
    at.report(first, collected);
    expect(at.key(id).attempt).toBe(2);
    expect(at.task(id).node).toBe('n2');
    expect(at.live(id).lastFailure).toBe('node n1 had to be empty by now (new disk)');
    expect(view(at, 'n1').state).toBe('DRAINED');
  });

  it('ends what may not run again as lost to its node [U2]', () => {
    const at = new Scenario();
    at.join('n1');
    const id = at.submit();
    drain(at, 'n1', 0);
    at.pass(0);
    at.report(at.key(id), collected);
    expect(at.job(id).outcome).toMatchObject({
      reason: 'node-lost',
      message: 'node n1 had to be empty by now (new disk)',
    });
  });

  it('is asked once: time that passes after it adds nothing [I28]', () => {
    const at = new Scenario();
    at.join('n1');
    at.submit();
    drain(at, 'n1');
    at.pass(10 * minute);
    const count = at.facts.length;
    at.pass(minute);
    expect(at.facts).toHaveLength(count);
    const node = at.state.nodes.get('n1');
    expect(node && drainDueMs(at.state, node)).toBeNull();
  });

  it('stops nothing when it is resumed before, and later when the deadline is moved', () => {
    const at = new Scenario();
    at.join('n1');
    const id = at.submit();
    drain(at, 'n1');
    at.nowMs = 9 * minute;
    drain(at, 'n1');
    at.pass(9 * minute);
    expect(at.live(id).verdict).toBeNull();
    at.do({ kind: 'ResumeNode', node: 'n1', by: 'ada' });
    at.pass(60 * minute);
    expect(at.live(id).verdict).toBeNull();
    expect(view(at, 'n1')).toMatchObject({ state: 'READY', drainDeadlineAt: null });
  });

  it.each([-1, 1.5, Number.NaN, 31 * 86_400_000])(
    'must have one that can be: %d ms is refused [R4.10]',
    (deadlineMs) => {
      const at = new Scenario();
      at.join('n1');
      const refusal = at.refused({ kind: 'DrainNode', node: 'n1', reason: 'x', by: 'ada', deadlineMs });
      expect(refusal).toMatchObject({ code: 'RANGE', path: 'deadline' });
    },
  );
});

describe('replicas on a node that must be empty by a deadline', () => {
  function serving(rollout = {}): ServiceScenario {
    const at = new ServiceScenario(['n1', 0]).running({ replicas: 2, spread: 'none', rollout });
    at.join('n2', { cpus: 64 });
    return at;
  }
  const nodesOf = (at: ServiceScenario) => at.ids().map((id) => at.task(id).node);

  it('are replaced elsewhere one by one, and stopped only when others serve: never below the floor [X12] [I19] [I20]', () => {
    const at = serving();
    const [one, two] = at.ids();
    drain(at, 'n1');
    expect(at.service.replicas.size).toBe(3);
    const [, , next] = at.ids();
    expect(at.task(next ?? '').node).toBe('n2');
    at.pass(minute);
    expect(at.ids()).toHaveLength(3);
    at.ready(next ?? '');
    at.pass(minute);
    expect(at.stopping()).toEqual([two]);
    expect(at.view.ready).toBe(2);
    at.drain();
    at.ready(...at.ids().filter((id) => id !== one && id !== next));
    at.pass(minute);
    at.drain();
    expect(nodesOf(at)).toEqual(['n2', 'n2']);
    expect(at.view).toMatchObject({ state: 'RUNNING', ready: 2 });
    expect(view(at, 'n1').state).toBe('DRAINED');
    expect(at.events().join('\n')).toContain('its node is being drained');
  });

  it('stay until the deadline when nothing else can take them, and are then stopped', () => {
    const at = new ServiceScenario(['n1', 0]).running({ replicas: 1 });
    const [only = ''] = at.ids();
    drain(at, 'n1');
    at.pass(9 * minute);
    expect(at.service.replicas.get(only)).toMatchObject({ moving: true, stopping: false });
    expect(at.view.ready).toBe(1);
    at.pass(minute);
    expect(at.view.ready).toBe(0);
    at.tell(only, collected);
    at.join('n2', { cpus: 64 });
    expect(nodesOf(at)).toEqual(['n2']);
  });

  it('stay where they are when the drain has none, or is taken back [B10]', () => {
    const at = serving();
    const before = at.ids();
    drain(at, 'n1', null);
    expect(at.ids()).toEqual(before);
    drain(at, 'n1');
    expect(at.service.replicas.size).toBe(3);
    at.do({ kind: 'ResumeNode', node: 'n1', by: 'ada' });
    at.drain();
    expect(at.ids()).toEqual(before);
    expect(at.service.replicas.size).toBe(2);
  });

  it('give way without a surge as far as may be missing', () => {
    const at = serving({ maxSurge: 0, maxUnavailable: 1 });
    drain(at, 'n1');
    expect(at.stopping()).toHaveLength(1);
    expect(at.view.ready).toBe(1);
  });

  it('move as well while a rollout has failed, in the revision that serves [I19]', () => {
    const at = serving();
    at.apply({ replicas: 2, spread: 'none' }, { run: 'serve v2' });
    at.pass(11 * minute);
    expect(at.service.rollout?.state).toBe('failed');
    const old = at.ids(1);
    drain(at, 'n1');
    for (let round = 0; round < 6; round += 1) {
      expect(at.view.ready).toBeGreaterThanOrEqual(2);
      at.ready(...at.ids(1).filter((id) => at.task(id).node === 'n2'));
      at.pass(minute);
      at.drain();
    }
    expect(at.ids(1).map((id) => at.task(id).node)).toEqual(['n2', 'n2']);
    expect(old.some((id) => at.ids().includes(id))).toBe(false);
  });
});
