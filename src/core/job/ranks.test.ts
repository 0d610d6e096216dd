import { describe, expect, it } from 'vitest';
import { ordersFor } from '../node/orders.ts';
import { collected, exited, Scenario } from '../scenario.testsuite.ts';

function distributed(
  ranks: number,
  more: { maxAttempts?: number; outputs?: string[] } = {},
): { at: Scenario; id: string } {
  const at = new Scenario();
  for (let rank = 0; rank < ranks; rank += 1) at.join(`n${rank}`);
  const id = at.submit(
    { nodes: ranks, retry: { maxAttempts: more.maxAttempts ?? 1, onExit: [] } },
    { outputs: more.outputs ?? [] },
  );
  return { at, id };
}

function prepareAll(at: Scenario, id: string, ranks: number): void {
  for (let rank = ranks - 1; rank >= 0; rank -= 1) {
    at.report(at.key(id, 0, rank), { kind: 'TaskPrepared', address: `10.0.0.${rank}`, port: 4000 + rank });
  }
}

describe('a job on several nodes', () => {
  it('is placed on distinct nodes together or not at all [U3] [G6]', () => {
    const at = new Scenario();
    at.join('n1');
    at.join('n2');
    const id = at.submit({ nodes: 3 });
    expect(at.stateOf(id)).toBe('PENDING');
    expect(at.state.nodes.get('n1')?.allocations.size).toBe(0);
    at.join('n3');
    expect(at.stateOf(id)).toBe('RUNNING');
    expect(
      at
        .live(id)
        .tasks.map((task) => task.node)
        .sort(),
    ).toEqual(['n1', 'n2', 'n3']);
  });

  it('runs only once every rank is prepared, with the address of rank 0 for all [G6]', () => {
    const { at, id } = distributed(3);
    expect(at.orders().every((order) => order.endsWith(':prepare'))).toBe(true);
    for (const rank of [2, 0]) {
      at.report(at.key(id, 0, rank), { kind: 'TaskPrepared', address: `10.0.0.${rank}`, port: 4000 + rank });
      expect(at.orders().every((order) => order.endsWith(':prepare'))).toBe(true);
    }
    at.report(at.key(id, 0, 1), { kind: 'TaskPrepared', address: '10.0.0.1', port: 4001 });
    const orders = ['n0', 'n1', 'n2'].flatMap((node) => [...ordersFor(at.state, node).values()]);
    expect(orders.map((order) => order.step)).toEqual(['run', 'run', 'run']);
    for (const order of orders) expect(order.task.rendezvous).toEqual({ address: '10.0.0.0', port: 4000 });
  });

  it('takes a repeated preparation for nothing new [I28]', () => {
    const { at, id } = distributed(2);
    at.report(at.key(id, 0, 0), { kind: 'TaskPrepared', address: '10.0.0.0', port: 4000 });
    expect(at.report(at.key(id, 0, 0), { kind: 'TaskPrepared', address: '10.0.0.0', port: 4000 }).facts).toEqual([]);
  });

  it('names the rank that failed first and stops its peers, whose own ends change nothing [C19]', () => {
    const { at, id } = distributed(4);
    prepareAll(at, id, 4);
    at.report(at.key(id, 0, 2), exited(1));
    expect(at.live(id).stop).toEqual({ graceMs: 30_000 });
    expect(at.orders()).toEqual([0, 1, 3].map((rank) => `${id}.0.${rank}.1:collect`));
    for (const rank of [0, 1, 3]) {
      at.report(at.key(id, 0, rank), {
        kind: 'OutputsCollected',
        outputs: [],
        manifest: null,
        exitCode: null,
        signal: 9,
      });
    }
    expect(at.job(id).outcome).toEqual({
      reason: 'exit',
      exitCode: 1,
      signal: null,
      message: 'rank 2 exited with code 1',
    });
  });

  it('completes with its last rank, however far apart they exit [G6]', () => {
    const { at, id } = distributed(3, { outputs: ['model'] });
    prepareAll(at, id, 3);
    at.report(at.key(id, 0, 1), exited(0));
    at.report(at.key(id, 0, 1), collected);
    expect(at.stateOf(id)).toBe('RUNNING');
    at.report(at.key(id, 0, 0), exited(0));
    at.report(at.key(id, 0, 2), exited(0));
    at.report(at.key(id, 0, 2), collected);
    expect(at.stateOf(id)).toBe('RUNNING');
    at.report(at.key(id, 0, 0), collected);
    expect(at.stateOf(id)).toBe('COMPLETED');
  });

  it('is placed again as a whole when one of its nodes fails, under a new attempt [U2] [U3]', () => {
    const { at, id } = distributed(3, { maxAttempts: 2 });
    prepareAll(at, id, 3);
    at.report(at.key(id, 0, 1), { kind: 'NodeFault', message: 'its disk failed', held: false });
    expect(at.stateOf(id)).toBe('RUNNING');
    for (const rank of [0, 2]) at.report(at.key(id, 0, rank), collected);
    expect(at.live(id).attempt).toBe(2);
    expect(at.live(id).tasks.map((task) => task.step)).toEqual(['prepare', 'prepare', 'prepare']);
  });

  it('is stopped on every node [S8]', () => {
    const { at, id } = distributed(2);
    at.do({ kind: 'StopJob', job: id, indices: null, by: 'ada', graceMs: 0 });
    expect(at.orders()).toEqual([`${id}.0.0.1:collect`, `${id}.0.1.1:collect`]);
    at.report(at.key(id, 0, 0), collected);
    expect(at.stateOf(id)).toBe('RUNNING');
    at.report(at.key(id, 0, 1), collected);
    expect(at.job(id).outcome?.reason).toBe('stopped');
  });
});
