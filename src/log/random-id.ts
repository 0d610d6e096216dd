import type { Chance } from '../host/chance.ts';

/** 128 random bits as 32 lower-case hex digits. */
export function randomId(chance: Chance): string {
  return Array.from(chance.bytes(16), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
