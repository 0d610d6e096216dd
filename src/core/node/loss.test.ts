import { describe, expect, it } from 'vitest';
import { whyWaiting } from '../placement/waiting.ts';
import { exited, gpus, Scenario } from '../scenario.testsuite.ts';
import { ServiceScenario } from '../service/service-scenario.testsuite.ts';

const graceOver = 120_000;
const started = { kind: 'JobStarted', port: null } as const;
const twice = { retry: { maxAttempts: 2, onExit: [] } };

/** One job that runs on n1, which falls silent; n2 joins meanwhile. */
function lost(profile: Parameters<Scenario['submit']>[0], spec: Parameters<Scenario['submit']>[1] = {}) {
  const at = new Scenario();
  at.joinLeased('n1');
  const id = at.submit(profile, spec);
  const first = at.key(id);
  at.report(first, started);
  at.joinLeased('n2');
  at.silence(graceOver, 'n2');
  return { at, id, first };
}

const waits = (at: Scenario, id: string) => whyWaiting(at.state, at.job(id), at.nowMs)?.message ?? null;
const held = (at: Scenario, node: string) => [...(at.state.nodes.get(node)?.allocations.keys() ?? [])];

describe('a node that is lost with a job that may run again', () => {
  it('leaves its next attempt to another, and keeps what the old one has until it confirms its end [X12] [I9]', () => {
    const { at, id, first } = lost(twice);
    expect(at.key(id).attempt).toBe(2);
    expect(at.task(id).node).toBe('n2');
    expect(held(at, 'n1')).toEqual([`${id}.0.0.1`]);
    at.join('n1', {}, { leased: true, instance: at.instances.get('n1') ?? '', inventory: [first] });
    expect(at.orders()).toEqual([`${id}.0.0.2:run`]);
    expect(held(at, 'n1')).toEqual([`${id}.0.0.1`]);
    at.step(at.reportOf('n1', [], [first]));
    expect(held(at, 'n1')).toEqual([]);
  });

  it('is not believed about the old attempt when it is back: outputs come from the current one [I14] [I15] [R4.28]', () => {
    const { at, id, first } = lost(twice, { outputs: ['out'] });
    at.beat('n1');
    const { answers } = at.step(at.reportOf('n1', [{ ...first, ...exited(0) }]));
    expect(answers).toEqual([{ kind: 'reported', stale: [first] }]);
    expect(at.stateOf(id)).toBe('RUNNING');
  });

  it('gives no GPU of it away twice, as long as it has not confirmed [I8] [I9] [I10]', () => {
    const at = new Scenario();
    at.join('n1', { gpus: gpus('n1', 1) }, { leased: true });
    const id = at.submit({ resources: { gpus: 1 }, ...twice });
    const first = at.key(id);
    at.silence(graceOver);
    at.beat('n1');
    expect(waits(at, id)).toBe('needs 1 GPU, all taken where it fits');
    at.step(at.reportOf('n1', [], [first]));
    expect(at.key(id).attempt).toBe(2);
  });

  it('gives back at once what it has no records of when it joins: the order never reached it', () => {
    const { at, id } = lost(twice);
    at.join('n1', {}, { leased: true });
    expect(held(at, 'n1')).toEqual([]);
    expect(at.key(id).attempt).toBe(2);
  });

  it('gives all of it back when its host rebooted', () => {
    const { at, first } = lost(twice);
    at.join('n1', {}, { leased: true, bootId: 'boot-2', inventory: [first] });
    expect(held(at, 'n1')).toEqual([]);
  });

  it('fails it when that was its last attempt, and keeps the job until the node confirms [U2] [X12]', () => {
    const { at, id, first } = lost({});
    expect(at.job(id).outcome).toMatchObject({ reason: 'node-lost', message: 'node n1 is lost' });
    expect(at.state.jobs.has(id)).toBe(true);
    at.beat('n1');
    at.step(at.reportOf('n1', [], [first]));
    expect(at.state.jobs.has(id)).toBe(false);
  });

  it('fails it when its profile says so [X4]', () => {
    const { at, id } = lost({ ...twice, onNodeLoss: 'fail' });
    expect(at.job(id).outcome).toMatchObject({ reason: 'node-lost' });
  });

  it('holds nothing of a process whose end it had told', () => {
    const at = new Scenario();
    at.joinLeased('n1');
    const id = at.submit(twice, { outputs: ['out'] });
    at.report(at.key(id), started, exited(0));
    at.silence(graceOver);
    expect(at.job(id).outcome).toMatchObject({ reason: 'exit', exitCode: 0 });
    expect(held(at, 'n1')).toEqual([]);
    expect(at.state.jobs.has(id)).toBe(false);
  });
});

describe('a node that is lost with a job that must never run twice', () => {
  const waiting = { ...twice, onNodeLoss: 'wait' } as const;

  it('is waited for, and says so [I12] [B10] [X12]', () => {
    const { at, id } = lost(waiting);
    at.silence(3_600_000, 'n2');
    expect(at.stateOf(id)).toBe('RUNNING');
    expect(at.key(id).attempt).toBe(1);
    expect(waits(at, id)).toBe(`node n1 is lost; it waits for it (without it: yard retry ${id})`);
  });

  it('goes on where it stood when it is back on the same boot [I12] [X12]', () => {
    const { at, id, first } = lost(waiting);
    at.join('n1', {}, { leased: true, inventory: [first] });
    expect(waits(at, id)).toBeNull();
    expect(at.orders()).toEqual([`${id}.0.0.1:run`]);
    at.report(first, exited(0));
    expect(at.stateOf(id)).toBe('COMPLETED');
  });

  it('has its next attempt when the host rebooted: nothing of the first can live', () => {
    const { at, id, first } = lost(waiting);
    at.join('n1', {}, { leased: true, bootId: 'boot-2', inventory: [first] });
    expect(at.key(id).attempt).toBe(2);
  });

  it('leaves it to a person: retry is the next attempt now, beyond what its profile allows [X12]', () => {
    const { at, id, first } = lost({ onNodeLoss: 'wait' });
    at.do({ kind: 'RetryTask', job: id, index: null, by: 'ada' });
    expect(at.key(id).attempt).toBe(2);
    expect(at.task(id).node).toBe('n2');
    expect(at.kinds()).toContain('RetryRequested');
    expect(at.refused({ kind: 'RetryTask', job: id, index: null, by: 'ada' })).toMatchObject({
      code: 'WRONG_STATE',
      message: `${id} does not wait for a lost node`,
    });
    expect(held(at, 'n1')).toEqual([`${id}.0.0.1`]);
    at.beat('n1');
    at.step(at.reportOf('n1', [], [first]));
    expect(held(at, 'n1')).toEqual([]);
  });

  it('lets only what waits be asked for: the index that is meant, of an array', () => {
    const at = new Scenario();
    at.join('n1', { cpus: 2 }, { leased: true });
    const id = at.submit({ onNodeLoss: 'wait', array: { size: 3, maxRunning: null } });
    at.joinLeased('n2');
    expect([0, 1, 2].map((index) => at.task(id, index).node)).toEqual(['n1', 'n1', 'n2']);
    at.silence(graceOver, 'n2');
    expect(at.refused({ kind: 'RetryTask', job: id, index: 2, by: 'ada' }).message).toBe(
      `${id}/2 does not wait for a lost node`,
    );
    at.do({ kind: 'RetryTask', job: id, index: 1, by: 'ada' });
    expect([0, 1, 2].map((index) => at.key(id, index).attempt)).toEqual([1, 2, 1]);
    expect(at.refused({ kind: 'RetryTask', job: 'ghost', index: null, by: 'ada' }).code).toBe('NOT_FOUND');
  });

  it('lets it be stopped: that is an end, and no second copy', () => {
    const { at, id } = lost(waiting);
    at.do({ kind: 'StopJob', job: id, indices: null, by: 'ada', graceMs: null });
    expect(at.job(id).outcome).toMatchObject({ reason: 'stopped' });
  });

  it('is given up when a person removes it: the first time it is lost, the second time forgotten [X12]', () => {
    const at = new Scenario();
    at.joinLeased('n1');
    const id = at.submit(waiting);
    at.joinLeased('n2');
    at.silence(30_000, 'n2');
    at.do({ kind: 'RemoveNode', node: 'n1', by: 'ada' });
    expect(at.state.nodes.get('n1')?.presence.kind).toBe('lost');
    expect(at.key(id).attempt).toBe(1);
    at.do({ kind: 'RemoveNode', node: 'n1', by: 'ada' });
    expect(at.state.nodes.has('n1')).toBe(false);
    expect(at.key(id).attempt).toBe(2);
    expect(at.state.derived.held.size).toBe(0);
  });

  it('is waited for after an attempt that left processes there, until a person asks [I12]', () => {
    const at = new Scenario();
    at.joinLeased('n1');
    const id = at.submit(waiting);
    at.report(at.key(id), { kind: 'NodeFault', message: 'unkillable', held: true });
    at.joinLeased('n2');
    expect(at.refused({ kind: 'RetryTask', job: id, index: null, by: 'ada' }).code).toBe('WRONG_STATE');
    at.silence(graceOver, 'n2');
    expect(at.stateOf(id)).toBe('PENDING');
    at.do({ kind: 'RetryTask', job: id, index: null, by: 'ada' });
    expect(at.key(id).attempt).toBe(2);
  });
});

describe('a node that is lost with one rank of several', () => {
  it('ends the whole, which is placed again as a whole [G4]', () => {
    const at = new Scenario();
    at.joinLeased('n1', 'n2', 'n3');
    const id = at.submit({ nodes: 2, ...twice });
    at.joinLeased('n4');
    const [one, two] = [at.task(id, 0, 0).node, at.task(id, 0, 1).node];
    const rest = ['n1', 'n2', 'n3', 'n4'].filter((name) => name !== one);
    at.silence(graceOver, ...rest);
    expect(at.live(id).verdict).toMatchObject({ reason: 'node-lost', message: `rank 0 node ${one} is lost` });
    expect(at.task(id, 0, 1)).toMatchObject({ node: two, step: 'collect' });
    at.report(at.key(id, 0, 1), {
      kind: 'OutputsCollected',
      outputs: [],
      manifest: null,
      exitCode: null,
      signal: null,
    });
    expect(at.key(id).attempt).toBe(2);
    expect([0, 1].map((rank) => at.task(id, 0, rank).node)).not.toContain(one);
  });
});

it('ends ranks on several nodes that are lost with one look once, and their attempt once [I13] [G4]', () => {
  const at = new Scenario();
  at.joinLeased('n1', 'n2');
  const id = at.submit({ nodes: 2, ...twice });
  at.joinLeased('n3');
  at.silence(graceOver, 'n3');
  const after = at.kinds().slice(at.kinds().indexOf('NodeDeclaredLost'));
  expect(after).toEqual(['NodeDeclaredLost', 'NodeDeclaredLost', 'NodeLost', 'NodeLost', 'AttemptEnded']);
  expect(at.stateOf(id)).toBe('PENDING');
});

describe('a node that is lost with a replica', () => {
  function serving(onNodeLoss: 'replace' | 'wait' | 'fail', rollout = {}) {
    const at = new ServiceScenario();
    at.joinLeased('n1');
    at.running({ replicas: 2, onNodeLoss, spread: 'none', rollout });
    at.joinLeased('n2');
    at.silence(30_000, 'n2');
    return at;
  }

  it('keeps it among the endpoints while it is only suspect: its last verdict stands [X32]', () => {
    const at = serving('replace');
    expect(at.view).toMatchObject({ ready: 2, state: 'RUNNING' });
    expect(at.view.endpoints).toHaveLength(2);
  });

  it('is replaced elsewhere, however many it had and however few may be too many [X12] [X23] [U2]', () => {
    const at = serving('replace', { maxSurge: 0, maxUnavailable: 1 });
    at.silence(graceOver, 'n2');
    expect(at.view.endpoints).toEqual([]);
    at.silence(60_000, 'n2');
    expect(at.ids().map((id) => at.task(id).node)).toEqual(['n2', 'n2']);
    at.ready(...at.ids());
    expect(at.view).toMatchObject({ ready: 2, desired: 2 });
  });

  it('is replaced at once, however many it had: a lost node is one failure, not one for each', () => {
    const at = new ServiceScenario();
    at.joinLeased('n1');
    at.running({ replicas: 5, spread: 'none', resources: { cpus: 0.1 } });
    at.joinLeased('n2');
    at.silence(graceOver, 'n2');
    expect(at.ids().map((id) => at.task(id).node)).toEqual(Array(5).fill('n2'));
    expect(at.service.failures).toBe(1);
  });

  it('is on its way out no more when it was to stop: nobody can wait for what a lost node still runs [X24] [X12]', () => {
    const at = serving('replace');
    at.scale(0);
    expect(at.view.replicas.map(({ stopping }) => stopping)).toEqual([true, true]);
    at.silence(graceOver, 'n2');
    expect(at.view.replicas.map(({ state, stopping }) => [state, stopping])).toEqual([
      ['FAILED', false],
      ['FAILED', false],
    ]);
  });

  it('leaves it out of the endpoints when it is waited for, and puts it back with its node [X32] [I25]', () => {
    const at = serving('wait');
    at.silence(graceOver, 'n2');
    expect(at.view).toMatchObject({ ready: 0, endpoints: [], state: 'WAITING' });
    expect(at.view.reason).toContain('node n1 is lost; it waits for it');
    at.silence(3_600_000, 'n2');
    expect(at.ids()).toHaveLength(2);
    at.beat('n1');
    expect(at.view).toMatchObject({ ready: 2, state: 'RUNNING' });
    expect(at.view.endpoints).toHaveLength(2);
  });

  it('loses it for good when its profile says so [X4]', () => {
    const at = serving('fail');
    at.silence(3_600_000, 'n2');
    expect(at.view.state).toBe('FAILED');
    expect(at.ids()).toEqual([]);
  });
});
