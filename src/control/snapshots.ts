import { evolve } from '../core/evolve.ts';
import type { Fact } from '../core/fact.ts';
import { fromRecords, stateVersion, toRecords } from '../core/records.ts';
import { emptyState, type State } from '../core/state.ts';
import type { Host } from '../host/host.ts';
import type { FactLog } from '../log/fact-log.ts';

export interface LoadedState {
  readonly state: State;
  readonly seq: number;
  readonly hash: string;
  /** Where the snapshot that was used ends; 0 without one. */
  readonly snapshotSeq: number;
}

/** The newest snapshot that verifies, and every fact after it; without one, every fact. */
export async function loadState(log: FactLog<Fact>, host: Host): Promise<LoadedState> {
  const start = await fromSnapshot(log, host);
  let { seq, hash } = start;
  for (;;) {
    const batches = await log.readAfter(seq, 1000);
    if (batches.length === 0) return { state: start.state, seq, hash, snapshotSeq: start.seq };
    for (const batch of batches) {
      for (const fact of batch.facts) evolve(start.state, fact, batch);
      seq = batch.seq + batch.facts.length - 1;
      hash = batch.hash;
    }
  }
}

async function fromSnapshot(log: FactLog<Fact>, host: Host): Promise<{ state: State; seq: number; hash: string }> {
  for (const snapshot of await log.loadSnapshots()) {
    const fits = snapshot.incarnation === log.incarnation && snapshot.version === stateVersion;
    if (!fits || hashRecords(host, snapshot.records) !== snapshot.stateHash) continue;
    return { state: fromRecords(snapshot.records), seq: snapshot.seq, hash: snapshot.hash };
  }
  return { state: emptyState(), seq: 0, hash: '' };
}

export async function saveState(
  log: FactLog<Fact>,
  host: Host,
  at: { readonly state: State; readonly seq: number; readonly hash: string },
): Promise<void> {
  const records = toRecords(at.state);
  await log.saveSnapshot({
    incarnation: log.incarnation,
    seq: at.seq,
    hash: at.hash,
    version: stateVersion,
    stateHash: hashRecords(host, records),
    records,
  });
}

/** Equal for equal states, on every machine. */
export function stateHash(host: Host, state: State): string {
  return hashRecords(host, toRecords(state));
}

function hashRecords(host: Host, records: readonly string[]): string {
  return host.digests.sha256(new TextEncoder().encode(records.join('\n')));
}
