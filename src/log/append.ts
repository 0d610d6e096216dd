import { readBatch, type StoredBatch, sealBatch } from './batch.ts';
import type { AppendRequest, AppendResult, AppendView, Batch, Draft, Lease, LoggedFact } from './fact-log.ts';
import { raiseFormat } from './formats.ts';
import { grantLeases } from './leases.ts';
import { advanceLogTime, isOutage, type TimeAnchor } from './log-time.ts';
import { plainJson } from './plain-json.ts';
import { randomId } from './random-id.ts';
import { readTail } from './read.ts';
import { decodeFact, type LogSession, writeTo } from './session.ts';
import type { Outcome } from './store.ts';
import type { Head, LogTables } from './tables.ts';
import { findDeadWriters } from './writers.ts';

/**
 * The one algorithm: catch up, lock, catch up with what little came meanwhile, decide, append, commit.
 * Everything that can refuse runs before the first row is written.
 */
export async function append<Fact extends LoggedFact>(
  session: LogSession<Fact>,
  request: AppendRequest,
  decide: (view: AppendView<Fact>) => Draft<Fact> | null,
): Promise<AppendResult<Fact>> {
  const early = await session.store.read((tables) => readTail(session, tables, { afterSeq: request.afterSeq }));
  const caughtUpSeq = lastSeqOf(early) ?? request.afterSeq;
  const dead = await findDeadWriters(session);
  return writeTo(session, (tables, head): Outcome<AppendResult<Fact>> => {
    const late = readTail(session, tables, { afterSeq: caughtUpSeq });
    const tail = early.length === 0 ? late : [...early, ...late];
    const now = advanceLogTime(head.anchor, session.host.clock);
    const draft = decide(lookUp(tables, { request, tail, head, now }));
    if (draft === null) return { result: { tail, appended: null }, changed: false };
    if (draft.facts.length === 0) {
      writeBeside(tables, draft, now.nowMs);
      if ((draft.leases ?? []).length > 0) tables.setHead({ ...head, anchor: now, outage: false });
      return { result: { tail, appended: null }, changed: hasContent(draft) };
    }
    const stored = seal(session, tables, { facts: draft.facts, head, now, dead });
    const appended = readBatch(stored, (json, format) => decodeFact(session, json, format));
    writeBeside(tables, draft, now.nowMs);
    writeBatch(session, tables, { head, stored });
    for (const id of dead) tables.deleteWriter(id);
    return {
      result: { tail, appended },
      changed: true,
      isCommitted: (after) => after.batchEndingAt(stored.lastSeq)?.id === stored.id,
    };
  });
}

function lastSeqOf(batches: readonly Batch[]): number | null {
  const last = batches.at(-1);
  return last === undefined ? null : last.seq + last.facts.length - 1;
}

function lookUp<Fact extends LoggedFact>(
  tables: LogTables,
  found: { request: AppendRequest; tail: readonly Batch<Fact>[]; head: Head; now: TimeAnchor },
): AppendView<Fact> {
  const { keys = [], ids = [], blobs = [], leases = [] } = found.request;
  const stored = new Set(blobs.length === 0 ? [] : tables.storedBlobs(blobs));
  return {
    tail: found.tail,
    answers: new Map((keys.length === 0 ? [] : tables.answers(keys)).map((answer) => [answer.key, answer])),
    archivedIds: new Set(ids.length === 0 ? [] : tables.archivedIds(ids)),
    missingBlobs: new Set(blobs.filter((hash) => !stored.has(hash))),
    leases: lookUpLeases(tables, leases),
    atMs: found.now.atMs,
    nowMs: found.now.nowMs,
    afterOutage: found.head.outage || isOutage(found.head.anchor, found.now),
  };
}

function lookUpLeases(tables: LogTables, names: readonly string[]): ReadonlyMap<string, Lease> {
  const found = new Map<string, Lease>();
  for (const name of names) {
    const lease = tables.lease(name);
    if (lease !== null && lease.holder !== null) found.set(name, { ...lease, holder: lease.holder });
  }
  return found;
}

/** Makes the batch, in the highest format that every live process can read. */
function seal<Fact extends LoggedFact>(
  session: LogSession<Fact>,
  tables: LogTables,
  { facts, head, now, dead }: { facts: readonly Fact[]; head: Head; now: TimeAnchor; dead: ReadonlySet<string> },
): StoredBatch {
  const live = tables.writers().filter((writer) => !dead.has(writer.id) && writer.id !== session.self.id);
  const format = raiseFormat(head.format, [session.formats.current, ...live.map((writer) => writer.supports)]);
  const texts = facts.map((fact, index) =>
    plainJson(session.formats.encode(fact, format), `fact ${index} (${fact.kind})`),
  );
  return sealBatch(session.host.digests, {
    ...now,
    seq: head.lastSeq + 1,
    lastSeq: head.lastSeq + facts.length,
    id: randomId(session.host.chance),
    format,
    previousHash: head.lastHash,
    factsText: `[${texts.join(',')}]`,
  });
}

function writeBatch<Fact extends LoggedFact>(
  session: LogSession<Fact>,
  tables: LogTables,
  { head, stored }: { head: Head; stored: StoredBatch },
): void {
  const { nowMs, atMs, bootId, bootMs, format, lastSeq, hash: lastHash } = stored;
  const anchor: TimeAnchor = { nowMs, atMs, bootId, bootMs };
  tables.addBatch(stored);
  tables.setHead({ incarnation: head.incarnation, format, lastSeq, lastHash, anchor, outage: false });
  session.anchor = anchor;
}

function writeBeside(tables: LogTables, draft: Draft, nowMs: number): void {
  for (const answer of draft.answers ?? []) tables.putAnswer(answer, nowMs);
  for (const record of draft.archive ?? []) tables.putArchived(record);
  for (const { holder, blobs } of draft.pins ?? []) tables.pin(holder, blobs);
  for (const holder of draft.unpins ?? []) tables.unpin(holder);
  grantLeases(tables, draft.leases ?? [], nowMs);
}

function hasContent({ answers = [], archive = [], pins = [], unpins = [], leases = [] }: Draft): boolean {
  return answers.length + archive.length + pins.length + unpins.length + leases.length > 0;
}
