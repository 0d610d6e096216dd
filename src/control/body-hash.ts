import type { Command } from '../core/command.ts';
import type { Digests } from '../host/bytes.ts';
import type { ExecuteOptions } from './decide-batch.ts';

/** A key is its user's own: another who sends the same under it is refused as with another request. */
export function hashBody(digests: Digests, command: Command, { actor }: ExecuteOptions): string {
  const who = actor === undefined || actor.kind === 'local' ? undefined : [actor.kind, actor.name];
  return digests.sha256(new TextEncoder().encode(JSON.stringify({ ...command, ids: undefined, who })));
}
