import type { BlobStore } from '../blobs/blob-store.ts';
import type { ControlPlane } from '../control/control-plane.ts';
import type { ExecuteOptions } from '../control/decide-batch.ts';
import type { Principal } from '../core/access/principal.ts';
import type { Answer, Command } from '../core/command.ts';
import { isRefusal } from '../core/refusal.ts';
import type { Host } from '../host/host.ts';
import { RefusalError } from './refusal-error.ts';

/** What every part of the embedded client works with. */
export interface Embedded {
  readonly home: string;
  readonly host: Host;
  readonly plane: ControlPlane;
  readonly store: BlobStore;
  /** Who asks: named in what they do, and may do no more than their roles allow. */
  readonly actor: Principal;
  /** Of the one request that this is made for: its command has one effect and one answer, however often it arrives. */
  readonly idempotencyKey?: string;
  readonly onFault: (error: unknown) => void;
}

/** Carries a command out; a refusal is thrown as a RefusalError. */
export async function execute(embedded: Embedded, command: Command, options: ExecuteOptions = {}): Promise<Answer> {
  const { actor, idempotencyKey } = embedded;
  const key = idempotencyKey === undefined ? {} : { idempotencyKey };
  const answer = await embedded.plane.execute(command, { actor, ...key, ...options });
  if (isRefusal(answer)) throw new RefusalError(answer);
  return answer;
}
