import { describe, expect, it } from 'vitest';
import { createNodeDigests } from '../host/node/digests.ts';
import { genesisHash, readBatch, type StoredBatch, sealBatch, verifyChain } from './batch.ts';
import type { LoggedFact } from './fact-log.ts';
import { plainJson } from './plain-json.ts';

const digests = createNodeDigests();

function seal(seq: number, previousHash: string, facts: readonly LoggedFact[]): StoredBatch {
  const times = { atMs: 1, nowMs: 2, bootId: 'b', bootMs: 3 };
  const lastSeq = seq + facts.length - 1;
  const factsText = plainJson(facts, 'facts');
  return sealBatch(digests, { ...times, seq, lastSeq, id: `id-${seq}`, format: 1, previousHash, factsText });
}

const first = seal(1, genesisHash, [{ kind: 'A' }, { kind: 'B' }]);
const second = seal(3, first.hash, [{ kind: 'C' }]);
const start = { seq: 0, hash: genesisHash };

describe('a chain of batches', () => {
  it('is accepted whole and from any point on [I1]', () => {
    verifyChain(digests, start, [first, second]);
    verifyChain(digests, { seq: 2, hash: first.hash }, [second]);
    verifyChain(digests, { seq: 2, hash: null }, [second]);
  });

  it('is refused for a gap, for another history and for any changed field [I1]', () => {
    expect(() => verifyChain(digests, start, [second])).toThrow('damaged at fact 3 (batch id-3): expected fact 1 next');
    expect(() => verifyChain(digests, { seq: 2, hash: 'f'.repeat(64) }, [second])).toThrow(
      'does not continue hash ffff',
    );
    const changes: Partial<StoredBatch>[] = [
      { id: 'other' },
      { atMs: 9 },
      { nowMs: 9 },
      { bootId: 'c' },
      { bootMs: 9 },
      { format: 2 },
      { factsText: first.factsText.replace('A', 'X') },
    ];
    for (const change of changes) {
      expect(() => verifyChain(digests, start, [{ ...first, ...change }])).toThrow('does not match its hash');
    }
    expect(() => verifyChain(digests, start, [{ ...first, lastSeq: 0 }])).toThrow('it ends at 0');
  });

  it('gives its facts to the reader with their format', () => {
    const formats: number[] = [];
    const read = readBatch(first, (json, format) => {
      formats.push(format);
      return json as LoggedFact;
    });
    expect(read.facts).toEqual([{ kind: 'A' }, { kind: 'B' }]);
    expect(formats).toEqual([1, 1]);
    expect(read).not.toHaveProperty('factsText');
  });
});

describe('plain JSON', () => {
  it('reads back as it was written, keys in their order', () => {
    const value = { z: 1, a: [null, true, 'x\ud800'], 2: -1.5e-7, nested: { '': {} } };
    const text = plainJson(value, 'fact');
    expect(JSON.parse(text)).toEqual(value);
    expect(JSON.stringify(JSON.parse(text))).toBe(text);
  });

  it('refuses what JSON would drop or change, naming the place', () => {
    const bad: [unknown, string][] = [
      [{ a: { b: undefined } }, 'fact.a.b: found undefined'],
      [[1, Number.POSITIVE_INFINITY], 'fact[1]: found Infinity'],
      [{ when: new Date(0) }, 'fact.when: found an object of a class'],
      [{ big: 1n }, 'fact.big: found bigint'],
    ];
    for (const [value, message] of bad) expect(() => plainJson(value, 'fact')).toThrow(message);
  });
});
