import type { Sealing } from '../agent/secrets/sealing.ts';
import { toHex } from '../host/hex.ts';

/** What a box of the simulator says: it stands for cryptography, and keeps nothing from anybody who looks. */
export interface BoxContent {
  readonly publicKey: string;
  readonly value: string;
}

/** A box opens for the key that it was sealed to, and for no other. */
export function virtualSealing(publicKey: string): Sealing {
  return {
    publicKey,
    open: (box) => {
      const content = readBox(box);
      return Promise.resolve(content?.publicKey === publicKey ? new TextEncoder().encode(content.value) : null);
    },
    seal: (value, to) => Promise.resolve(writeBox({ publicKey: to, value: new TextDecoder().decode(value) })),
  };
}

/** The public key of the node that has this digest of its key. Digits of hex are base64, too. */
export function publicKeyOf(keyHash: string): string {
  return keyHash.slice(0, 44);
}

export function writeBox({ publicKey, value }: BoxContent): string {
  const text = JSON.stringify([publicKey, value]);
  // Four digits of base64 at a time.
  return toHex(new TextEncoder().encode(text.length % 2 === 0 ? text : `${text} `));
}

/** Null for what is no box. */
export function readBox(box: string): BoxContent | null {
  try {
    const bytes = Uint8Array.from(box.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
    const [publicKey, value] = JSON.parse(new TextDecoder().decode(bytes)) as readonly string[];
    return publicKey === undefined || value === undefined ? null : { publicKey, value };
  } catch {
    return null;
  }
}
