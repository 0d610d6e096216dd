import { describe, expect, it } from 'vitest';
import { exited, gpus, Scenario } from '../scenario.testsuite.ts';
import { orderFor, ordersFor } from './orders.ts';

describe('orders', () => {
  it('stand until what they ask for is reported, however often they are read [S3]', () => {
    const at = new Scenario();
    at.join('n1');
    const id = at.submit({}, { setup: 'make' });
    for (let time = 0; time < 3; time += 1) expect(at.orders()).toEqual([`${id}.0.0.1:setup`]);
    at.pass(60_000);
    expect(at.orders()).toEqual([`${id}.0.0.1:setup`]);
    at.report(at.key(id), { kind: 'SetupCompleted', reused: false });
    expect(at.orders()).toEqual([`${id}.0.0.1:run`]);
  });

  it('tell all that the node needs to know, and the GPUs by UUID [G7] [B4]', () => {
    const at = new Scenario();
    at.join('n1', { gpus: gpus('n1', 2) });
    const id = at.submit(
      { resources: { gpus: 1, memoryMiB: 512 }, array: { size: 3, maxRunning: 1 } },
      { env: { A: '1' } },
    );
    const [order] = ordersFor(at.state, 'n1').values();
    expect(order).toMatchObject({
      key: { job: id, index: 0, rank: 0, attempt: 1 },
      step: 'run',
      begun: false,
      stop: null,
      task: {
        devices: ['GPU-n1-0'],
        cpus: 1,
        memoryMiB: 512,
        count: 3,
        rendezvous: null,
        owner: 'ada',
        project: 'default',
      },
    });
    expect(order?.task.spec.env).toEqual({ A: '1' });
  });

  it('say that the node had begun, so that it starts nothing a second time [B3] [I11]', () => {
    const at = new Scenario();
    at.join('n1');
    const id = at.submit();
    at.report(at.key(id), { kind: 'JobStarted', port: null });
    at.join('n1');
    expect(orderFor(at.state, at.job(id), `${id}.0.0.1`)).toMatchObject({ step: 'run', begun: true });
  });

  it('to stop carry the grace, and a shorter one when asked again [S8]', () => {
    const at = new Scenario();
    at.join('n1');
    const id = at.submit({ graceMs: 20_000 });
    const stop = (graceMs: number | null) => {
      at.do({ kind: 'StopJob', job: id, indices: null, by: 'ada', graceMs });
      return orderFor(at.state, at.job(id), `${id}.0.0.1`)?.stop;
    };
    expect(stop(null)).toEqual({ graceMs: 20_000 });
    expect(stop(0)).toEqual({ graceMs: 0 });
    expect(stop(60_000)).toEqual({ graceMs: 0 });
  });

  it('are none for what has ended, for older attempts, and for nodes that do not exist [I14]', () => {
    const at = new Scenario();
    at.join('n1');
    const id = at.submit({ retry: { maxAttempts: 2, onExit: [75] } });
    at.report(at.key(id), exited(75));
    expect(at.orders()).toEqual([]);
    at.pass(1000);
    expect(orderFor(at.state, at.job(id), `${id}.0.0.1`)).toBeNull();
    expect(orderFor(at.state, at.job(id), `${id}.0.0.2`)?.step).toBe('run');
    for (const wrong of [`${id}.1.0.2`, `${id}.0.1.2`, 'x', ''])
      expect(orderFor(at.state, at.job(id), wrong)).toBeNull();
    expect(ordersFor(at.state, 'n9').size).toBe(0);
  });
});
