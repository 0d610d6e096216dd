import { randomBytes } from 'node:crypto';
import type { Chance } from '../chance.ts';

export function createNodeChance(): Chance {
  return {
    bytes: (length) => new Uint8Array(randomBytes(length)),
    fraction: () => randomBytes(4).readUInt32LE(0) / 2 ** 32,
  };
}
