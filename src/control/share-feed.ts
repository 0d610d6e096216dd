import type { Fact } from '../core/fact.ts';
import { type ShareRequest, sharesFor } from '../core/secrets/shares.ts';
import type { State } from '../core/state.ts';
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

/** Follows the log and tells one node which secrets it is to seal for others, whenever that changes. */
export class ShareFeed {
  readonly #node: string;
  readonly #listener: (requests: readonly ShareRequest[]) => void;
  readonly #end: () => void;
  #told = '[]';

  constructor(plane: ControlPlane, node: string, listener: (requests: readonly ShareRequest[]) => void) {
    this.#node = node;
    this.#listener = listener;
    this.#end = plane.subscribe((batch, state) => {
      if (batch.facts.some(({ kind }) => kinds.has(kind))) this.#look(state);
    });
    this.#look(plane.state);
  }

  close(): void {
    this.#end();
  }

  #look(state: State): void {
    const requests = sharesFor(state, this.#node);
    const text = JSON.stringify(requests);
    if (text === this.#told) return;
    this.#told = text;
    if (requests.length > 0) this.#listener(requests);
  }
}
