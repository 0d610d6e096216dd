import type { Fact } from '../core/fact.ts';
import { type ShareRequest, sharesOf } from '../core/secrets/shares.ts';
import type { ControlPlane } from './control-plane.ts';

/** Facts after which a node may have something to share, or somebody else may have it. */
const kinds: ReadonlySet<Fact['kind']> = new Set<Fact['kind']>([
  'SecretSet',
  'SecretShared',
  'SecretRemoved',
  'NodeJoined',
  'NodeLeft',
  'NodeRemoved',
  'NodeSuspected',
  'NodeResponded',
  'NodeDeclaredLost',
]);

/** What nodes are to share as of a fact: worked out once for all of them, as many may be connected. */
const known = new WeakMap<ControlPlane, { readonly seq: number; readonly shares: ReturnType<typeof sharesOf> }>();

function sharesNow(plane: ControlPlane): ReturnType<typeof sharesOf> {
  const last = known.get(plane);
  if (last?.seq === plane.seq) return last.shares;
  const shares = sharesOf(plane.state);
  known.set(plane, { seq: plane.seq, shares });
  return shares;
}

/** Follows the log and tells one node which secrets it is to seal for others, whenever that changes. */
export class ShareFeed {
  readonly #plane: ControlPlane;
  readonly #node: string;
  readonly #listener: (requests: readonly ShareRequest[]) => void;
  readonly #end: () => void;
  #told = '[]';

  constructor(plane: ControlPlane, node: string, listener: (requests: readonly ShareRequest[]) => void) {
    this.#plane = plane;
    this.#node = node;
    this.#listener = listener;
    this.#end = plane.subscribe((batch) => {
      if (batch.facts.some(({ kind }) => kinds.has(kind))) this.#look();
    });
    this.#look();
  }

  close(): void {
    this.#end();
  }

  #look(): void {
    const requests = sharesNow(this.#plane).get(this.#node) ?? [];
    const text = JSON.stringify(requests);
    if (text === this.#told) return;
    this.#told = text;
    if (requests.length > 0) this.#listener(requests);
  }
}
