import { refuse } from '../../core/refusal.ts';
import { largestSecretBytes } from '../../core/secrets/check-secret.ts';
import { RefusalError } from '../refusal-error.ts';
import { sealTo } from './sealing.ts';

/** The value sealed to each key, by key. Refused when it is empty or too large. */
export async function sealForAll(
  given: Uint8Array | string,
  publicKeys: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  const value = secretBytes(given);
  const boxes: Record<string, string> = {};
  for (const key of publicKeys) boxes[key] = await sealTo(value, key);
  return boxes;
}

export function secretBytes(given: Uint8Array | string): Uint8Array {
  const value = typeof given === 'string' ? new TextEncoder().encode(given) : given;
  if (value.length === 0) throw new RefusalError(refuse('BAD_VALUE', 'the value of the secret is empty'));
  if (value.length <= largestSecretBytes) return value;
  const message = `the value of the secret has ${value.length} bytes; at most ${largestSecretBytes} fit`;
  const hint = 'put large files into the workspace or onto the nodes, and keep their key as the secret';
  throw new RefusalError(refuse('TOO_LARGE', message, { hint }));
}
