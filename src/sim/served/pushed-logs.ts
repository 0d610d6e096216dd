import { RefusalError } from '../../client/refusal-error.ts';
import type { LogPiece } from '../../client/remote/agent/log-pusher.ts';
import { refuse } from '../../core/refusal.ts';

/**
 * The server's store of logs: a piece that does not fit on what is there is not taken, and every answer says where to go
 * on. What a server has taken outlives it.
 */
export class PushedLogs {
  /** There is no room for more. */
  isFull = false;
  readonly #logs = new Map<string, Uint8Array>();

  /** By `<attempt>/run.out` and the like. */
  get texts(): ReadonlyMap<string, string> {
    return new Map([...this.#logs].map(([place, bytes]) => [place, new TextDecoder().decode(bytes)]));
  }

  take({ task, file, offset, droppedFrom, bytes }: LogPiece): { readonly sizeBytes: number; readonly full: boolean } {
    // Nothing of the simulator prints so much that a node drops some of it.
    if (droppedFrom !== null) throw new Error(`${task} dropped what stood from ${droppedFrom} in ${file}`);
    const place = `${task}/${file}`;
    const known = this.#logs.get(place) ?? new Uint8Array();
    if (offset !== known.length) return { sizeBytes: known.length, full: false };
    if (this.isFull && bytes.length > 0) throw new RefusalError(refuse('STORE_FULL', 'there is no room for logs'));
    const grown = new Uint8Array(known.length + bytes.length);
    grown.set(known);
    grown.set(bytes, known.length);
    this.#logs.set(place, grown);
    return { sizeBytes: grown.length, full: false };
  }
}
