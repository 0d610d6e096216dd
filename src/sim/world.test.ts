import { describe, expect, it } from 'vitest';
import { Incarnation } from './incarnation.ts';
import { createRandom } from './random.ts';
import { World } from './world.ts';

const drain = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));
const newWorld = (): World => new World(createRandom(1), drain);

describe('virtual time', () => {
  it('passes from event to event, in order of time and then of asking', async () => {
    const world = newWorld();
    const seen: string[] = [];
    world.schedule(20, () => void seen.push(`c at ${world.nowMs}`));
    world.schedule(10, () => void seen.push(`a at ${world.nowMs}`));
    world.schedule(10, () => void seen.push(`b at ${world.nowMs}`));
    const cancel = world.schedule(15, () => void seen.push('never'));
    cancel();
    await world.run(100);
    expect(seen).toEqual(['a at 10', 'b at 10', 'c at 20']);
    expect(world.nowMs).toBe(100);
  });

  it('lets every promise settle before the next event', async () => {
    const world = newWorld();
    const life = new Incarnation(world, 'program');
    const seen: string[] = [];
    const chain = async (): Promise<void> => {
      await life.call(10, () => undefined);
      for (let i = 0; i < 500; i += 1) await Promise.resolve();
      seen.push(`settled at ${world.nowMs}`);
    };
    void chain();
    world.schedule(10, () => void seen.push('next event'));
    await world.run(20);
    expect(seen).toEqual(['settled at 10', 'next event']);
  });
});

describe('an incarnation', () => {
  it('is never answered once it is dead, and has no effect either', async () => {
    const world = newWorld();
    const life = new Incarnation(world, 'program');
    const seen: string[] = [];
    void life.call(10, () => seen.push('effect')).then(() => seen.push('answer'));
    life.after(10, () => void seen.push('timer'));
    world.schedule(5, () => life.kill());
    await world.run(20);
    expect(seen).toEqual([]);
  });

  it.each([
    ['before', ['effect 1', 'answer 1', 'dead']],
    ['after', ['effect 1', 'answer 1', 'effect 2', 'dead']],
  ] as const)('dies at its second call, %s its effect', async (moment, expected) => {
    const world = newWorld();
    const life = new Incarnation(world, 'program');
    const seen: string[] = [];
    life.onDeath(() => void seen.push('dead'));
    const work = async (): Promise<void> => {
      for (const number of [1, 2, 3]) {
        await life.call(1, () => seen.push(`effect ${number}`));
        seen.push(`answer ${number}`);
      }
    };
    life.crashAtCall(2, moment);
    void work();
    await world.run(20);
    expect(seen).toEqual(expected);
    expect(life.alive).toBe(false);
  });
});

describe('chance from a seed', () => {
  it('draws the same again, and something else from another seed', () => {
    const draw = (seed: number): string => createRandom(seed).bytes(16).join(' ');
    expect(draw(5)).toBe(draw(5));
    expect(new Set([1, 2, 3, 4, 2 ** 40].map(draw)).size).toBe(5);
  });

  it('does not shift when another source that was forked from it is used more', () => {
    const draw = (uses: number): number => {
      const random = createRandom(7);
      const fork = random.fork();
      for (let i = 0; i < uses; i += 1) fork.fraction();
      return random.fraction();
    };
    expect(draw(0)).toBe(draw(100));
  });
});
