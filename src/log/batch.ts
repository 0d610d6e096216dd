import type { Digests } from '../host/bytes.ts';
import type { Batch, LoggedFact } from './fact-log.ts';
import { LogError } from './log-error.ts';
import type { TimeAnchor } from './log-time.ts';

/**
 * A batch as a store keeps it. The hash covers the stored text itself, so it stays valid whatever later versions make of
 * the facts, and a reader verifies without encoding anything again.
 */
export interface StoredBatch extends TimeAnchor {
  readonly seq: number;
  /** Sequence number of the last fact. */
  readonly lastSeq: number;
  readonly id: string;
  readonly format: number;
  readonly previousHash: string;
  readonly hash: string;
  /** JSON array of the facts, in `format`. */
  readonly factsText: string;
}

/** What the first batch of a log chains to. */
export const genesisHash = '0'.repeat(64);

/** Chains a batch to the one before. */
export function sealBatch(digests: Digests, batch: Omit<StoredBatch, 'hash'>): StoredBatch {
  return { ...batch, hash: hashBatch(digests, batch) };
}

/**
 * Throws BROKEN_CHAIN unless the batches follow each other and what came before without a gap, each hash right.
 * `previous.hash` is null when the batch that ends at `previous.seq` is not kept any more.
 */
export function verifyChain(
  digests: Digests,
  previous: { readonly seq: number; readonly hash: string | null },
  batches: readonly StoredBatch[],
): void {
  let { seq, hash } = previous;
  for (const batch of batches) {
    if (batch.seq !== seq + 1) throw brokenChain(batch, `expected fact ${seq + 1} next`);
    if (batch.lastSeq < batch.seq) throw brokenChain(batch, `it ends at ${batch.lastSeq}, before it starts`);
    if (hash !== null && batch.previousHash !== hash) throw brokenChain(batch, `it does not continue hash ${hash}`);
    if (batch.hash !== hashBatch(digests, batch)) throw brokenChain(batch, 'its content does not match its hash');
    ({ lastSeq: seq, hash } = batch);
  }
}

/** The batch with its facts read, `decode` being given each fact's JSON. */
export function readBatch<Fact extends LoggedFact>(
  stored: StoredBatch,
  decode: (json: unknown, format: number) => Fact,
): Batch<Fact> {
  const { factsText, lastSeq, seq, id, atMs, nowMs, bootId, bootMs, format, previousHash, hash } = stored;
  const json: unknown = JSON.parse(factsText);
  if (!Array.isArray(json) || json.length !== lastSeq - seq + 1) {
    throw brokenChain(stored, `expected an array of ${lastSeq - seq + 1} facts`);
  }
  const facts = json.map((fact: unknown) => decode(fact, format));
  return { seq, facts, id, atMs, nowMs, bootId, bootMs, format, previousHash, hash };
}

/** The header's fields in a fixed order, then the facts; JSON holds no line break outside strings, so nothing is ambiguous. */
function hashBatch(digests: Digests, batch: Omit<StoredBatch, 'hash'>): string {
  const { previousHash, seq, lastSeq, id, atMs, nowMs, bootId, bootMs, format, factsText } = batch;
  const header = JSON.stringify([previousHash, seq, lastSeq, id, atMs, nowMs, bootId, bootMs, format]);
  return digests.sha256(new TextEncoder().encode(`${header}\n${factsText}`));
}

function brokenChain(batch: Pick<StoredBatch, 'seq' | 'id'>, found: string): LogError {
  return new LogError(
    'BROKEN_CHAIN',
    `the log is damaged at fact ${batch.seq} (batch ${batch.id}): ${found}. Restore it from a backup`,
  );
}
