import { genesisHash, readBatch, type StoredBatch, verifyChain } from './batch.ts';
import type { Batch, LoggedFact } from './fact-log.ts';
import { ForgottenFactsError, LogError } from './log-error.ts';
import { checkHead, decodeFact, type LogSession } from './session.ts';
import type { LogTables } from './tables.ts';

/** Batches after `afterSeq`, verified and decoded, without the lock. */
export async function readAfter<Fact extends LoggedFact>(
  session: LogSession<Fact>,
  afterSeq: number,
  limitBatches = Number.MAX_SAFE_INTEGER,
): Promise<readonly Batch<Fact>[]> {
  return session.store.read((tables) => readTail(session, tables, { afterSeq, limitBatches }));
}

/**
 * The same on tables at hand. Throws FORGOTTEN_FACTS when the facts wanted are trimmed already, and REWOUND_LOG when the
 * log ends before `afterSeq`, so that a caller never takes a part for the whole.
 */
export function readTail<Fact extends LoggedFact>(
  session: LogSession<Fact>,
  tables: LogTables,
  { afterSeq, limitBatches = Number.MAX_SAFE_INTEGER }: { afterSeq: number; limitBatches?: number },
): readonly Batch<Fact>[] {
  const head = checkHead(session, tables.head());
  if (head.lastSeq < afterSeq) throw rewound(head.lastSeq, afterSeq);
  if (head.lastSeq === afterSeq) return [];
  const stored = tables.batchesAfter(afterSeq, limitBatches);
  verifyTail(session, tables, { afterSeq, stored });
  return stored.map((batch) => readBatch(batch, (json, format) => decodeFact(session, json, format)));
}

function verifyTail<Fact extends LoggedFact>(
  session: LogSession<Fact>,
  tables: LogTables,
  { afterSeq, stored }: { afterSeq: number; stored: readonly StoredBatch[] },
): void {
  const [first] = stored;
  if (first === undefined || first.seq > afterSeq + 1) {
    throw new ForgottenFactsError(afterSeq + 1, first?.seq ?? null);
  }
  const hash = afterSeq === 0 ? genesisHash : (tables.batchEndingAt(afterSeq)?.hash ?? null);
  verifyChain(session.host.digests, { seq: afterSeq, hash }, stored);
}

function rewound(lastSeq: number, afterSeq: number): LogError {
  return new LogError(
    'REWOUND_LOG',
    `the log ends at fact ${lastSeq}, but fact ${afterSeq} was read before. Start again`,
  );
}
