import { toRecords } from '../core/records.ts';
import type { State } from '../core/state.ts';
import { virtualHash } from './virtual-hash.ts';

/** Equal for equal states. */
export function hashState(state: State): string {
  return virtualHash(new TextEncoder().encode(toRecords(state).join('\n')));
}
