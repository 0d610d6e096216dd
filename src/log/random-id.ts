import type { Chance } from '../host/chance.ts';
import { toHex } from '../host/hex.ts';

/** 128 random bits as 32 lower-case hex digits. */
export function randomId(chance: Chance): string {
  return toHex(chance.bytes(16));
}
