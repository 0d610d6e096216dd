import { describe, expect, it } from 'vitest';
import type { Fact } from '../../core/fact.ts';
import { writeBox } from '../virtual-sealing.ts';
import { broken, gaveUp, history, joined, placed, submitted } from './histories.testsuite.ts';
import { removed, runWith, setTo } from './of-secrets.testsuite.ts';

describe('the checkers of secrets', () => {
  it.each([
    ['was removed before it was placed', [setTo('v1'), removed, placed('a-1')], 'v1'],
    ['was replaced before it was placed', [setTo('v1'), setTo('v2'), placed('a-1')], 'v1'],
    ['was set after it had started', [setTo('v1'), placed('a-1'), setTo('v2')], 'v2'],
    ['is of another project', [{ ...setTo('v1'), project: 'p1' } as Fact, setTo('v2'), placed('a-1')], 'v1'],
    ['stays on another node', [setTo('v1'), placed('a-1')], 'node other 1'],
  ] as const)('find a run with a value that %s [G14]', (_what, facts, value) => {
    expect(broken(runWith(facts, { s: value }))).toContain('G14');
  });

  it('find nothing in a value that stood when it was placed, came until the start, or stays on the node [G14]', () => {
    const facts = [setTo('v1'), placed('a-1'), setTo('v2')];
    expect(broken(runWith(facts, { s: 'v1' }))).not.toContain('G14');
    expect(broken(runWith(facts, { s: 'v2' }, 5))).not.toContain('G14');
    expect(broken(runWith(facts, { s: 'node n 1' }))).not.toContain('G14');
  });

  it('find a box that opens for another, an older value that is shared, and a value in the log [G14]', () => {
    const wrong: Fact = { ...setTo('v1'), boxes: { other: writeBox({ publicKey: 'key', value: 'v1' }) } } as Fact;
    expect(broken(history([wrong]))).toContain('G14');
    const boxes = { other: writeBox({ publicKey: 'other', value: 'v1' }) };
    const shared: Fact = { kind: 'SecretShared', project: 'default', name: 's', node: 'n', boxes };
    expect(broken(history([setTo('v1'), shared]))).not.toContain('G14');
    expect(broken(history([setTo('v1'), setTo('v2'), shared]))).toContain('G14');
    expect(broken(history([submitted('a-1'), setTo('v1'), { ...gaveUp, message: 'it said v1' }]))).toContain('G14');
  });

  it('find a node that a secret never came to [G14]', () => {
    const joins = ['key', 'other'].map((publicKey): Fact => ({ ...joined, node: publicKey, publicKey }) as Fact);
    const made = history([...joins, setTo('v1')], (one) => {
      one.rest = { startSeq: 3, endSeq: 3 };
    });
    expect(broken(made)).toContain('G14');
  });
});
