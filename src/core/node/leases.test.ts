import { describe, expect, it } from 'vitest';
import { toRecords } from '../records.ts';
import { gpus, joining, Scenario } from '../scenario.testsuite.ts';
import { viewNode } from './view.ts';

const wallMs = Date.UTC(2026, 0, 1);

function leased(...nodes: readonly string[]): Scenario {
  const at = new Scenario();
  at.joinLeased(...nodes);
  return at;
}

const stateOf = (at: Scenario, name: string) => {
  const node = at.state.nodes.get(name);
  return node === undefined ? null : viewNode(at.state, node, { atMs: at.nowMs, nowMs: at.nowMs }).state;
};

const statesOf = (at: Scenario) => [...at.state.nodes.keys()].map((name) => stateOf(at, name)).join(' ');

describe('a node with a lease', () => {
  it('that is heard adds no fact, however long it runs [I28]', () => {
    const at = leased('n1', 'n2');
    at.silence(600_000, 'n1', 'n2');
    expect(at.kinds()).toEqual(['NodeJoined', 'NodeJoined']);
  });

  it('is suspect when its lease ends, and lost when the grace is over as well [X12] [I27]', () => {
    const at = leased('n1');
    at.silence(29_999);
    expect(stateOf(at, 'n1')).toBe('READY');
    at.silence(1);
    expect(stateOf(at, 'n1')).toBe('SUSPECT');
    at.silence(89_999);
    expect(stateOf(at, 'n1')).toBe('SUSPECT');
    at.silence(1);
    expect(stateOf(at, 'n1')).toBe('LOST');
    at.silence(3_600_000);
    expect(at.kinds()).toEqual(['NodeJoined', 'NodeSuspected', 'NodeDeclaredLost']);
  });

  it('gets no new work while it is suspect, and what it has goes on [X12]', () => {
    const at = leased('n1');
    const runs = at.submit();
    at.silence(30_000);
    const waits = at.submit();
    expect([runs, waits].map((id) => at.stateOf(id))).toEqual(['RUNNING', 'PENDING']);
    at.beat('n1');
    expect([runs, waits].map((id) => at.stateOf(id))).toEqual(['RUNNING', 'RUNNING']);
    expect(at.kinds()).toContain('NodeResponded');
  });

  it('is not lost with a look at which it is one of many that are silent [X12]', () => {
    const at = leased('n1', 'n2', 'n3', 'n4');
    at.silence(30_000, 'n2', 'n3', 'n4');
    at.silence(60_000, 'n3', 'n4');
    at.silence(29_999, 'n4');
    expect(at.kinds().slice(4)).toEqual(['NodeSuspected', 'NodeSuspected']);
    at.silence(1, 'n4');
    expect(at.kinds().slice(6)).toEqual(['NodeSuspected', 'LossHeld']);
    expect(statesOf(at)).toBe('SUSPECT SUSPECT SUSPECT READY');
  });

  it('is only believed gone by the lease as it stands under the lock [I14]', () => {
    const at = leased('n1');
    at.silence(30_000);
    at.nowMs += 90_000;
    // Its heartbeat came between the look at the leases and the lock.
    at.leases.set('n1', at.nowMs + 1);
    at.step({ kind: 'CheckLeases', nodes: ['n1', 'n1', 'ghost'] });
    expect(stateOf(at, 'n1')).toBe('SUSPECT');
  });

  it('is not missed by the very commit in which its next agent joins [I16]', () => {
    const at = leased('n1');
    at.silence(29_999);
    at.nowMs += 1;
    at.step(joining('n1', 'next', {}, { leased: true }), { kind: 'CheckLeases', nodes: ['n1'] });
    expect(at.kinds()).toEqual(['NodeJoined', 'NodeJoined']);
    expect(stateOf(at, 'n1')).toBe('READY');
  });

  it('is not missed for what nobody was there to hear: an outage of the control plane says nothing of it [X12]', () => {
    const at = leased('n1');
    at.nowMs += 3_600_000;
    at.afterOutage = true;
    at.step({ kind: 'CheckLeases', nodes: ['n1'] });
    expect(stateOf(at, 'n1')).toBe('READY');
  });

  it('that left is missed only for the work that it left running [X12]', () => {
    const at = leased('busy', 'idle');
    const id = at.submit();
    expect(at.task(id).node).toBe('busy');
    for (const node of ['busy', 'idle']) at.leave(node);
    at.silence(3_600_000);
    expect(statesOf(at)).toBe('LOST DOWN');
  });

  it('may end with a word as well: a node that is suspect can leave in good order', () => {
    const at = leased('n1');
    at.silence(30_000);
    at.leave('n1');
    expect(statesOf(at)).toBe('DOWN');
  });

  it('of one that has none is never asked: it stands still while nobody serves the node [B3]', () => {
    const at = new Scenario();
    at.join('n1');
    at.leases.set('n1', 0);
    at.silence(3_600_000);
    expect(at.kinds()).toEqual(['NodeJoined']);
  });

  it('may be spoken of only by the agent that speaks for it [I14]', () => {
    const at = leased('n1');
    at.silence(30_000);
    expect(at.refused({ kind: 'NodeHeard', node: 'n1', instance: 'other' }).code).toBe('STALE_ATTEMPT');
    expect(at.refused({ kind: 'NodeHeard', node: 'n9', instance: 'other' }).code).toBe('NOT_FOUND');
  });
});

describe('many nodes that are silent together', () => {
  const twelve = Array.from({ length: 12 }, (_, index) => `n${String(index).padStart(2, '0')}`);

  it('are held: a quarter of all, and three at least, and said so [X12] [B10]', () => {
    const at = leased(...twelve);
    at.silence(600_000, ...twelve.slice(3));
    expect(statesOf(at)).toBe(`SUSPECT SUSPECT SUSPECT${' READY'.repeat(9)}`);
    const node = at.state.nodes.get('n00');
    expect(node && viewNode(at.state, node, { atMs: 0, nowMs: at.nowMs }).reason).toBe(
      '3 of 12 nodes are silent together: none is declared lost',
    );
    expect(at.kinds().slice(12)).toEqual(['NodeSuspected', 'NodeSuspected', 'NodeSuspected', 'LossHeld']);
  });

  it('are not held when they are few, or a small part of all', () => {
    const two = leased('a', 'b', 'c');
    two.silence(120_000, 'c');
    expect(statesOf(two)).toBe('LOST LOST READY');
    const thirteen = [...twelve, 'n12'];
    const part = leased(...thirteen);
    part.silence(120_000, ...thirteen.slice(3));
    expect(statesOf(part)).toBe(`LOST LOST LOST${' READY'.repeat(10)}`);
  });

  it('are held no more once others have come back, and those that have not get their grace again', () => {
    const at = leased('a', 'b', 'c', 'd');
    at.silence(600_000);
    expect(statesOf(at)).toBe('SUSPECT SUSPECT SUSPECT SUSPECT');
    at.silence(89_999, 'a', 'b');
    expect(statesOf(at)).toBe('READY READY SUSPECT SUSPECT');
    at.silence(10_000, 'a', 'b', 'c');
    expect(statesOf(at)).toBe('READY READY READY LOST');
    expect(at.kinds().filter((kind) => kind === 'LossHeld' || kind === 'LossReleased')).toEqual([
      'LossHeld',
      'LossReleased',
    ]);
  });

  it('are each lost all the same when a person says so', () => {
    const at = leased('a', 'b', 'c');
    at.silence(600_000);
    at.do({ kind: 'RemoveNode', node: 'b', by: 'ada' });
    expect(statesOf(at)).toBe('SUSPECT LOST SUSPECT');
  });
});

describe('a node that joins over the network', () => {
  it('must have a clock that is an hour off at most [R4.45]', () => {
    const at = new Scenario();
    const joins = (offMs: number) => joining('n1', 'i', {}, { leased: true, wallMs: wallMs + offMs });
    expect(at.refused(joins(2 * 365 * 86_400_000))).toMatchObject({ code: 'CLOCK_SKEW' });
    expect(at.refused(joins(-3_600_001)).message).toBe(
      "the clock of node n1 is 1 h behind the server's: it may be an hour off at most",
    );
    at.do(joins(3_600_000));
    at.do(joining('n2', 'i', {}, { wallMs: 0 }));
  });

  it('has at most what a machine can have, and each GPU once [R4.30]', () => {
    const at = new Scenario();
    const [one] = gpus('n1', 1);
    if (one === undefined) throw new Error('expected a GPU');
    const many = gpus('n1', 100);
    at.join('n1', { cpus: 1e9, memoryMiB: 1e15, gpus: [one, one, ...many] }, { leased: true });
    expect(at.state.nodes.get('n1')?.capacity).toMatchObject({
      cpus: 4096,
      memoryMiB: 1024 ** 3,
      gpus: many.slice(0, 64),
    });
    at.join('n2', { cpus: Number.NaN, memoryMiB: -5 }, { leased: true });
    expect(at.state.nodes.get('n2')?.capacity).toMatchObject({ cpus: 0, memoryMiB: 0 });
  });

  it('again within its lease tells nothing new [I28]', () => {
    const at = new Scenario();
    at.join('n1', {}, { leased: true, instance: 'one' });
    at.join('n1', {}, { leased: true, instance: 'one' });
    expect(at.kinds()).toEqual(['NodeJoined']);
    at.join('n1', { cpus: 8 }, { leased: true, instance: 'one' });
    expect(at.kinds()).toEqual(['NodeJoined', 'NodeJoined']);
  });

  it('with the identity of another: the newest speaks, and the one before may not come back [I14] [X12]', () => {
    const at = new Scenario();
    at.join('n1', {}, { leased: true, instance: 'original' });
    const id = at.submit();
    at.join('n1', {}, { leased: true, instance: 'clone' });
    const old = joining('n1', 'original', {}, { leased: true });
    expect(at.refused(old)).toMatchObject({ code: 'STALE_ATTEMPT', hint: 'stop this one' });
    expect(at.refused({ ...at.reportOf('n1', []), instance: 'original' }).code).toBe('STALE_ATTEMPT');
    at.join('n1', {}, { leased: true, instance: 'clone' });
    expect(at.stateOf(id)).toBe('RUNNING');
  });

  it('survives a snapshot with all that is known of its silence [X28] [I5]', () => {
    const at = leased('a', 'b', 'c', 'd');
    at.silence(60_000);
    at.do({ kind: 'DrainNode', node: 'a', reason: 'new disk', by: 'ada', deadlineMs: 1000 });
    const text = toRecords(at.state).join('\n');
    expect(text).toContain('"lossHeld":{"sinceMs":30000}');
    expect(text).toContain('"presence":{"kind":"suspect","sinceMs":30000}');
    expect(text).toContain('"deadlineAtMs":61000');
  });
});
