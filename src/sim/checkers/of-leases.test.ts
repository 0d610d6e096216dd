import { describe, expect, it } from 'vitest';
import type { Fact } from '../../core/fact.ts';
import type { History } from '../history.ts';
import { checkers } from './all.ts';
import { check } from './checker.ts';
import { broken, history, joined, key, placed, runOf, submitted, wholeLife } from './histories.testsuite.ts';
import { leased, lost, suspected } from './of-leases.testsuite.ts';

describe('the checkers of leases', () => {
  it.each([
    ['missed before its lease is over', leased([suspected('a')], [29_000])],
    ['missed though it was heard', leased([suspected('a')], [60_000], { heardMs: [40_000] })],
    ['lost before its grace is over', leased([suspected('a'), lost('a')], [30_000, 119_000])],
    [
      'lost for an outage of the server',
      leased([suspected('a'), lost('a')], [400_000, 480_000], { beganMs: [100_000] }),
    ],
    [
      'lost too early after others came back',
      leased([suspected('a'), { kind: 'LossReleased' }, lost('a')], [30_000, 100_000, 121_000]),
    ],
  ])('find a node that is %s [I16]', (_what, made) => {
    expect(broken(made)).toContain('I16');
  });

  it('find nothing in a node that is lost when it is due [I16] [X12]', () => {
    const made = leased([suspected('a'), lost('a')], [40_000, 130_000], { heardMs: [10_000], beganMs: [0] });
    expect(broken(made)).not.toContain('I16');
    expect(broken(made)).not.toContain('X12');
  });

  it('find an agent that comes back after another has replaced it [I14]', () => {
    const joins = ['one', 'other', 'one'].map((instance): Fact => ({ ...joined, instance }) as Fact);
    expect(broken(history(joins))).toContain('I14');
    expect(broken(history(joins.slice(0, 2)))).not.toContain('I14');
  });

  it('find what is given back while a process of it lives [I9]', () => {
    const lostWith = (held: boolean): History => {
      const fact: Fact = { ...key, kind: 'NodeLost', message: 'lost', held };
      return history([joined, submitted('a-1'), placed('a-1'), fact], ({ truth }) => {
        truth.processes.splice(0, 1, runOf({ endMs: null, exit: null }));
      });
    };
    expect(broken(lostWith(false))).toContain('I9');
    expect(broken(lostWith(true))).not.toContain('I9');
  });

  it('find work that is given to a silent node [X12]', () => {
    const facts = [joined, submitted('a-1'), suspected('n'), placed('a-1')];
    expect(check(history(facts), checkers).join()).toContain('is given no work');
  });

  it('find what a server leaves undone, and what it says twice [I27] [I28]', () => {
    expect(broken(history(wholeLife, (made) => made.overdue.push('n is not lost')))).toContain('I27');
    expect(broken(leased([suspected('a'), suspected('a')], [40_000, 41_000]))).toContain('I28');
  });
});
