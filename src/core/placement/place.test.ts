import { describe, expect, it } from 'vitest';
import { exited, gpus, Scenario } from '../scenario.testsuite.ts';

const nodeOf = (at: Scenario, id: string) => (at.stateOf(id) === 'PENDING' ? null : at.task(id).node);

describe('placement', () => {
  it('goes by priority, then by submission [B6] [G7]', () => {
    const at = new Scenario();
    at.join('n1', { cpus: 1 });
    const first = at.submit();
    const [low, second, high, third] = [
      at.submit({ priority: -1 }),
      at.submit(),
      at.submit({ priority: 9 }),
      at.submit(),
    ];
    const order = [first];
    for (let time = 0; time < 4; time += 1) {
      const running = order.at(-1) ?? '';
      at.report(at.key(running), exited(0));
      order.push([low, second, high, third].find((id) => at.state.jobs.has(id) && at.stateOf(id) === 'RUNNING') ?? '');
    }
    expect(order).toEqual([first, high, second, third, low]);
  });

  it('lets what fits pass by what does not, and never keeps a shape back for another [G7]', () => {
    const at = new Scenario();
    at.join('n1', { cpus: 2 });
    const large = at.submit({ resources: { cpus: 4 } });
    const fits = at.submit({ resources: { cpus: 2 } });
    expect([nodeOf(at, large), nodeOf(at, fits)]).toEqual([null, 'n1']);
  });

  it('fills the fullest node first, and keeps GPUs for what asks for them [G7]', () => {
    const at = new Scenario();
    at.join('a-gpu', { gpus: gpus('a-gpu', 2) });
    at.join('b-cpu');
    at.join('c-cpu');
    expect([at.submit(), at.submit()].map((id) => nodeOf(at, id))).toEqual(['b-cpu', 'b-cpu']);
    expect(nodeOf(at, at.submit({ resources: { gpus: 1 } }))).toBe('a-gpu');
  });

  it('reserves devices one by one, each for one task [G7] [I8]', () => {
    const at = new Scenario();
    at.join('n1', { gpus: gpus('n1', 3) });
    const [one, two] = [at.submit({ resources: { gpus: 2 } }), at.submit({ resources: { gpus: 1 } })];
    const three = at.submit({ resources: { gpus: 1 } });
    expect(at.task(one).devices).toEqual(['GPU-n1-0', 'GPU-n1-1']);
    expect(at.task(two).devices).toEqual(['GPU-n1-2']);
    at.report(at.key(one), exited(0));
    expect(at.task(three).devices).toEqual(['GPU-n1-0']);
  });

  it('matches kind and memory of GPUs as people write them, and labels exactly [U4] [G7]', () => {
    const at = new Scenario();
    at.join('old', { gpus: gpus('old', 1, 'Tesla T4', 15_360), labels: { zone: 'a' } });
    at.join('new', { gpus: gpus('new', 1), labels: { zone: 'b' } });
    expect(nodeOf(at, at.submit({ resources: { gpus: 1, gpuType: 'h100' } }))).toBe('new');
    expect(nodeOf(at, at.submit({ resources: { gpus: 1, gpuMemoryMiB: 16_000 } }))).toBeNull();
    expect(nodeOf(at, at.submit({ resources: { labels: { zone: 'b' } } }))).toBe('new');
    expect(nodeOf(at, at.submit({ resources: { labels: { zone: 'c' } } }))).toBeNull();
    expect(nodeOf(at, at.submit({ resources: { labels: { constructor: 'x' } } }))).toBeNull();
  });

  it('gives all of a node to what asks for all its GPUs [U5]', () => {
    const at = new Scenario();
    at.join('n1', { gpus: gpus('n1', 2) });
    const whole = at.submit({ resources: { gpus: 'all' } });
    expect(at.task(whole)).toMatchObject({ devices: ['GPU-n1-0', 'GPU-n1-1'], cpus: 4, memoryMiB: 8192 });
    expect(nodeOf(at, at.submit({ resources: { cpus: 0 } }))).toBe('n1');
    expect(nodeOf(at, at.submit({ resources: { cpus: 0, memoryMiB: 1 } }))).toBeNull();
  });

  it('takes all GPUs of a kind only from a node that has nothing else [U5]', () => {
    const at = new Scenario();
    at.join('cpu');
    at.join('old', { gpus: gpus('old', 1, 'Tesla T4', 15_360) });
    const id = at.submit({ resources: { gpus: 'all', gpuType: 'H100' } });
    expect(nodeOf(at, id)).toBeNull();
    at.join('new', { gpus: gpus('new', 2) });
    expect(nodeOf(at, id)).toBe('new');
  });

  it('does not care in which order nodes joined: equals are taken by name [I4]', () => {
    for (const order of [
      ['a', 'b', 'c'],
      ['c', 'a', 'b'],
    ]) {
      const at = new Scenario();
      for (const name of order) at.join(name, { cpus: 1 });
      expect([at.submit(), at.submit(), at.submit()].map((id) => nodeOf(at, id))).toEqual(['a', 'b', 'c']);
    }
  });

  it('is bounded in one step, and what is left over follows in the next', () => {
    const at = new Scenario();
    at.join('n1', { cpus: 5000 });
    const id = at.submit({ array: { size: 2500, maxRunning: null } });
    expect(at.job(id).live).toBe(1024);
    expect(at.step().unfinished).toBe(true);
    expect(at.job(id).live).toBe(2048);
    expect(at.step().unfinished).toBe(false);
    expect(at.job(id).live).toBe(2500);
    expect(at.step().facts).toEqual([]);
  });
});
