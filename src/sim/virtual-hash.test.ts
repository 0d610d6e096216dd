import { describe, expect, it } from 'vitest';
import { virtualHash } from './virtual-hash.ts';

describe('the hash of the simulator', () => {
  it('has the form of SHA-256', () => {
    expect(virtualHash(new Uint8Array())).toMatch(/^[0-9a-f]{64}$/);
    expect(virtualHash(Uint8Array.of(1, 2, 3))).toMatch(/^[0-9a-f]{64}$/);
  });

  it('tells apart inputs that differ in one bit, in length, or in order', () => {
    const seen = new Set<string>();
    let inputs = 0;
    for (let length = 0; length < 40; length += 1) {
      for (let bit = 0; bit < 8 * length; bit += 1) {
        const bytes = new Uint8Array(length);
        bytes[bit >> 3] = 1 << (bit & 7);
        seen.add(virtualHash(bytes));
        inputs += 1;
      }
      seen.add(virtualHash(new Uint8Array(length)));
      inputs += 1;
    }
    expect(seen.size).toBe(inputs);
  });

  it('changes about half of its bits with one bit of the input, wherever that stands', () => {
    const bits = (text: string): string =>
      Array.from(text)
        .map((digit) => Number.parseInt(digit, 16).toString(2).padStart(4, '0'))
        .join('');
    const plain = bits(virtualHash(new Uint8Array(100)));
    for (const at of [0, 50, 99]) {
      const bytes = new Uint8Array(100);
      bytes[at] = 1;
      const changed = bits(virtualHash(bytes));
      const different = Array.from(plain).filter((bit, i) => bit !== changed[i]).length;
      expect(different).toBeGreaterThan(70);
      expect(different).toBeLessThan(186);
    }
  });
});
