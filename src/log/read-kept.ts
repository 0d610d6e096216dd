import type { Batch, FactLog, LoggedFact } from './fact-log.ts';
import { ForgottenFactsError } from './log-error.ts';

/** Batches after `afterSeq`, or after what was trimmed where that is later: for looking back, never for folding a state. */
export async function readKept<Fact extends LoggedFact>(
  log: Pick<FactLog<Fact>, 'readAfter'>,
  afterSeq: number,
  limitBatches: number,
): Promise<readonly Batch<Fact>[]> {
  try {
    return await log.readAfter(afterSeq, limitBatches);
  } catch (error) {
    if (!(error instanceof ForgottenFactsError)) throw error;
    return error.oldestSeq === null ? [] : log.readAfter(error.oldestSeq - 1, limitBatches);
  }
}
