import type { Sealing } from '../../agent/secrets/sealing.ts';
import { type HomeKey, openHomeKey } from './home-key.ts';

/** What a node of this home opens its secrets with. The library is loaded when something is sealed or opened. */
export async function openSealing(home: string): Promise<Sealing> {
  return sealingOf(await openHomeKey(home));
}

export function sealingOf({ publicKey, privateKey }: HomeKey): Sealing {
  return {
    publicKey,
    async open(box) {
      const sodium = await loadSodium();
      const keys = [publicKey, privateKey].map((key) => Buffer.from(key, 'base64'));
      try {
        return sodium.crypto_box_seal_open(Buffer.from(box, 'base64'), keys[0] ?? empty, keys[1] ?? empty);
      } catch {
        // The library's only word for a box of another key, and for one that was tampered with.
        return null;
      }
    },
    seal: sealTo,
  };
}

/** A libsodium sealed box, base64: whoever made it cannot open it either. */
export async function sealTo(value: Uint8Array, publicKey: string): Promise<string> {
  const sodium = await loadSodium();
  return Buffer.from(sodium.crypto_box_seal(value, Buffer.from(publicKey, 'base64'))).toString('base64');
}

const empty = new Uint8Array();

/** Compiled when it is first used: it takes some 40 ms, and most commands need none of it. */
async function loadSodium(): Promise<Sodium> {
  const { default: sodium } = await import('libsodium-wrappers');
  await sodium.ready;
  return sodium;
}

type Sodium = typeof import('libsodium-wrappers')['default'];
