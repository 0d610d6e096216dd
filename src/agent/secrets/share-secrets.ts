import type { SharedSecret } from '../../core/secrets/command.ts';
import type { ShareRequest } from '../../core/secrets/shares.ts';
import type { Sealing } from './sealing.ts';

/**
 * Opens what this node can open and seals it for others, as it is asked to. The value is in memory for that moment and
 * nowhere else. What does not open is passed over: nobody is helped by a box of something else.
 */
export async function shareSecrets(
  sealing: Sealing,
  requests: readonly ShareRequest[],
): Promise<readonly SharedSecret[]> {
  const shared: SharedSecret[] = [];
  for (const { project, name, box, publicKeys } of requests) {
    const value = await sealing.open(box);
    if (value === null) continue;
    const boxes: Record<string, string> = {};
    for (const key of publicKeys) boxes[key] = await sealing.seal(value, key);
    shared.push({ project, name, from: box, boxes });
  }
  return shared;
}
