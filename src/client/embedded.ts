import type { BlobStore } from '../blobs/blob-store.ts';
import type { ControlPlane } from '../control/control-plane.ts';
import type { ExecuteOptions } from '../control/decide-batch.ts';
import type { Principal } from '../core/access/principal.ts';
import type { Answer, Command } from '../core/command.ts';
import type { Output, TaskKey } from '../core/job/job.ts';
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
  /** In a server: the nodes that have joined it over the network. */
  readonly elsewhere?: AgentsElsewhere;
}

/** What can be asked of nodes whose disks are not this machine's. Rejects with UNREACHABLE where a node is not connected. */
export interface AgentsElsewhere {
  /** Brings what there is of a live task's outputs into the store. */
  collect(
    node: string,
    key: TaskKey,
  ): Promise<{ readonly outputs: readonly Output[]; readonly manifest: string | null }>;
}

/** Carries a command out; a refusal is thrown as a RefusalError. */
export async function execute(embedded: Embedded, command: Command, options: ExecuteOptions = {}): Promise<Answer> {
  const { actor, idempotencyKey } = embedded;
  const key = idempotencyKey === undefined ? {} : { idempotencyKey };
  const answer = await embedded.plane.execute(command, { actor, ...key, ...options });
  if (isRefusal(answer)) throw new RefusalError(answer);
  return answer;
}
