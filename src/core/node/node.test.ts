import { describe, expect, it } from 'vitest';
import { whyWaiting } from '../placement/waiting.ts';
import { collected, exited, gpus, joining, Scenario } from '../scenario.testsuite.ts';
import { freeCapacity } from './node.ts';
import { viewNode } from './view.ts';

describe('a node that joins', () => {
  it('takes what waits for it [S2] [S3]', () => {
    const at = new Scenario();
    const id = at.submit();
    at.join('n1');
    expect(at.kinds()).toEqual(['JobSubmitted', 'NodeJoined', 'AttemptPlaced', 'NodeReady']);
    expect(at.stateOf(id)).toBe('RUNNING');
  });

  it('again after its agent restarted keeps its tasks where they stood [B3] [I16]', () => {
    const at = new Scenario();
    at.join('n1');
    const id = at.submit();
    at.report(at.key(id), { kind: 'JobStarted', port: null });
    at.leave('n1');
    expect(at.stateOf(id)).toBe('RUNNING');
    at.join('n1', {}, { inventory: [at.key(id)] });
    expect(at.stateOf(id)).toBe('RUNNING');
    expect(at.task(id)).toMatchObject({ step: 'run', begun: true, started: true });
    at.report(at.key(id), exited(5));
    expect(at.job(id).outcome?.exitCode).toBe(5);
  });

  it('is spoken for by its newest agent only [I14] [R4.28]', () => {
    const at = new Scenario();
    at.join('n1');
    const id = at.submit();
    const old = at.reportOf('n1', [{ ...at.key(id), ...exited(0) }]);
    at.join('n1');
    expect(at.refused(old).code).toBe('STALE_ATTEMPT');
  });

  it('speaks for its own tasks only [I14] [R4.27]', () => {
    const at = new Scenario();
    at.join('n1');
    const id = at.submit();
    at.join('n2');
    expect(at.refused(at.reportOf('n2', [{ ...at.key(id), ...exited(0) }])).code).toBe('NOT_ASSIGNED');
    expect(at.refused(at.reportOf('n3', [])).code).toBe('NOT_FOUND');
  });

  it('must have a name as all names are [R4.13]', () => {
    expect(new Scenario().refused(joining('Laptop!', 'x')).code).toBe('BAD_NAME');
  });
});

describe('a node whose host rebooted', () => {
  it('has lost what had begun, and starts what had only been placed [S11]', () => {
    const at = new Scenario();
    at.join('n1', { cpus: 3 });
    const [begun, inventoried, placed] = [at.submit(), at.submit(), at.submit()];
    at.report(at.key(begun), { kind: 'JobStarted', port: null });
    at.join('n1', { cpus: 3 }, { bootId: 'boot-2', inventory: [at.key(inventoried)] });
    for (const id of [begun, inventoried]) {
      expect(at.job(id).outcome).toMatchObject({ reason: 'node-lost', message: 'the host of node n1 rebooted' });
    }
    expect(at.orders()).toEqual([`${placed}.0.0.1:run`]);
    expect(at.task(placed).begun).toBe(false);
  });

  it('gives what had begun its next attempt where its profile says so [S11] [U2]', () => {
    const at = new Scenario();
    at.join('n1');
    const id = at.submit({ retry: { maxAttempts: 2, onExit: [] } });
    at.report(at.key(id), { kind: 'JobStarted', port: null });
    at.join('n1', {}, { bootId: 'boot-2' });
    expect(at.key(id).attempt).toBe(2);
    expect(at.orders()).toEqual([`${id}.0.0.2:run`]);
  });

  it('holds nothing any more: its processes are gone', () => {
    const at = new Scenario();
    at.join('n1', { gpus: gpus('n1', 1) });
    const id = at.submit({ resources: { gpus: 1 } });
    at.report(at.key(id), { kind: 'NodeFault', message: 'unkillable', held: true });
    at.join('n1', { gpus: gpus('n1', 1) }, { bootId: 'boot-2' });
    expect(at.state.nodes.get('n1')?.allocations.size).toBe(0);
    expect(at.state.jobs.has(id)).toBe(false);
  });
});

describe('a task whose processes could not be ended', () => {
  const held = () => {
    const at = new Scenario();
    at.join('n1', { gpus: gpus('n1', 1) });
    const id = at.submit({ resources: { gpus: 1 } });
    const key = at.key(id);
    at.report(key, { kind: 'NodeFault', message: 'process 7 does not die', held: true });
    return { at, id, key };
  };

  it('keeps its GPU and its job until they are gone [C14] [I9]', () => {
    const { at, id, key } = held();
    expect(at.stateOf(id)).toBe('FAILED');
    expect(at.state.jobs.has(id)).toBe(true);
    const next = at.submit({ resources: { gpus: 1 } });
    expect(at.stateOf(next)).toBe('PENDING');
    at.step(at.reportOf('n1', [], [key, key]));
    expect(at.kinds().filter((kind) => kind === 'AllocationReleased')).toHaveLength(1);
    expect(at.state.jobs.has(id)).toBe(false);
    at.do({ kind: 'ResumeNode', node: 'n1', by: 'ada' });
    expect(at.stateOf(next)).toBe('RUNNING');
    expect(at.task(next).devices).toEqual(['GPU-n1-0']);
  });

  it('drains its node until a person has looked at it', () => {
    const { at, id } = held();
    const free = at.submit();
    expect(at.stateOf(free)).toBe('PENDING');
    expect(at.state.nodes.get('n1')?.drain).toEqual({
      reason: `a process of ${id} cannot be killed`,
      by: 'runyard',
      deadlineAtMs: null,
    });
  });

  it('is released by the very report that said so, when that names both', () => {
    const at = new Scenario();
    at.join('n1');
    const id = at.submit();
    const key = at.key(id);
    at.step(at.reportOf('n1', [{ ...key, kind: 'NodeFault', message: 'exit unknown', held: true }], [key]));
    expect(at.state.nodes.get('n1')?.allocations.size).toBe(0);
    expect(at.state.jobs.has(id)).toBe(false);
  });

  it('delays the next attempt of a job that must never run twice, and says so [I12] [B10]', () => {
    const at = new Scenario();
    at.join('n1');
    const id = at.submit({ onNodeLoss: 'wait', retry: { maxAttempts: 2, onExit: [] } });
    const key = at.key(id);
    at.report(key, { kind: 'NodeFault', message: 'process 7 does not die', held: true });
    at.join('n2');
    at.pass(3_600_000);
    expect(whyWaiting(at.state, at.job(id), at.nowMs)).toEqual({
      reason: 'unconfirmed',
      message: `processes of ${id}.0.0.1 may still run, and it must never run twice`,
    });
    at.step(at.reportOf('n1', [], [key]));
    expect(at.key(id).attempt).toBe(2);
  });

  it('is not released by a node that never had it [I14]', () => {
    const { at, id, key } = held();
    at.join('n2');
    at.step(at.reportOf('n2', [], [key]));
    expect(at.state.jobs.has(id)).toBe(true);
  });
});

describe('a node that is drained', () => {
  it('takes no new work, finishes what it has, and takes work again when resumed [B10]', () => {
    const at = new Scenario();
    at.join('n1');
    const first = at.submit();
    at.do({ kind: 'DrainNode', node: 'n1', reason: 'new disk', by: 'ada', deadlineMs: null });
    const second = at.submit();
    expect(at.stateOf(first)).toBe('RUNNING');
    expect(at.stateOf(second)).toBe('PENDING');
    const node = at.state.nodes.get('n1');
    expect(node && viewNode(at.state, node, { atMs: 0, nowMs: 0 })).toMatchObject({
      state: 'DRAINING',
      reason: 'new disk',
    });
    at.report(at.key(first), exited(0));
    expect(node && viewNode(at.state, node, { atMs: 0, nowMs: 0 })).toMatchObject({ state: 'DRAINED' });
    at.do({ kind: 'ResumeNode', node: 'n1', by: 'ada' });
    expect(at.stateOf(second)).toBe('RUNNING');
  });

  it('adds no fact when it is already, or not at all [I28]', () => {
    const at = new Scenario();
    at.join('n1');
    at.do({ kind: 'ResumeNode', node: 'n1', by: 'ada' });
    for (let time = 0; time < 2; time += 1)
      at.do({ kind: 'DrainNode', node: 'n1', reason: 'new disk', by: 'ada', deadlineMs: null });
    expect(at.kinds()).toEqual(['NodeJoined', 'NodeDrained']);
  });

  it('is named among those there are when it is not known', () => {
    const at = new Scenario();
    at.join('n1');
    for (const kind of ['DrainNode', 'ResumeNode', 'RemoveNode'] as const) {
      const refusal = at.refused({ kind, node: 'n9', reason: 'x', by: 'ada', deadlineMs: null });
      expect(refusal).toMatchObject({ code: 'NOT_FOUND', hint: 'there are: n1' });
    }
  });
});

describe('a node that is removed', () => {
  it('must be down and empty [I26]', () => {
    const at = new Scenario();
    at.join('n1');
    const id = at.submit();
    const remove = { kind: 'RemoveNode', node: 'n1', by: 'ada' } as const;
    expect(at.refused(remove).code).toBe('WRONG_STATE');
    at.leave('n1');
    expect(at.refused(remove).message).toBe('node n1 still has 1 tasks placed on it');
    at.join('n1');
    at.do({ kind: 'StopJob', job: id, indices: null, by: 'ada', graceMs: null });
    at.report(at.key(id), collected);
    at.leave('n1');
    at.do(remove);
    expect(at.state.nodes.size).toBe(0);
  });
});

it('counts what is free less what is taken, never a GPU twice [I10]', () => {
  const at = new Scenario();
  at.join('n1', { gpus: gpus('n1', 2) });
  at.submit({ resources: { gpus: 1, cpus: 1.5, memoryMiB: 1024 } });
  const node = at.state.nodes.get('n1');
  expect(node && freeCapacity(node)).toEqual({ cpus: 2.5, memoryMiB: 7168, gpus: [gpus('n1', 2)[1]] });
});

it('takes no work onto a node that came back smaller than what it runs [I10]', () => {
  const at = new Scenario();
  at.join('n1', { cpus: 4 });
  at.submit({ resources: { cpus: 4 } });
  at.join('n1', { cpus: 2 });
  const id = at.submit();
  expect(at.stateOf(id)).toBe('PENDING');
});
