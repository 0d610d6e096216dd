import type { LoggedFact, Snapshot } from './fact-log.ts';
import type { LogHost } from './session.ts';
import { type LogSession, writeTo } from './session.ts';
import type { LogTables, StoredSnapshot } from './tables.ts';

/** Records are packed into parts of about this much text, so that no single compression holds everything up. */
const partBytes = 4 * 1024 * 1024;
const snapshotsKept = 2;
const rowsPerTransaction = 1_000;

/** Compresses outside the lock, then stores; the two newest are kept. */
export async function saveSnapshot<Fact extends LoggedFact>(
  session: LogSession<Fact>,
  snapshot: Snapshot,
): Promise<void> {
  const stored = await pack(session.host, snapshot);
  await writeTo(session, (tables) => {
    tables.putSnapshot(stored);
    for (const seq of tables.snapshotSeqs().slice(snapshotsKept)) tables.deleteSnapshot(seq);
    return { result: undefined, changed: true };
  });
}

/** Newest first. One that is damaged, of another incarnation or of another history than the log's is left out. */
export async function loadSnapshots<Fact extends LoggedFact>(session: LogSession<Fact>): Promise<readonly Snapshot[]> {
  const stored = await session.store.read((tables) =>
    tables
      .snapshotSeqs()
      .map((seq) => tables.snapshot(seq))
      .filter((snapshot) => snapshot !== null)
      .filter((snapshot) => belongsTo(tables, snapshot)),
  );
  const loaded = await Promise.all(stored.map((snapshot) => unpack(session.host, snapshot)));
  return loaded.filter((snapshot) => snapshot !== null);
}

/**
 * Forgets batches that end before `beforeSeq`, but only those that both snapshots contain: should the newer one be
 * damaged, the older one and the facts after it still make the whole state. A few rows a transaction, so nobody waits long.
 */
export async function trim<Fact extends LoggedFact>(
  session: LogSession<Fact>,
  { beforeSeq, answersBeforeMs }: { beforeSeq: number; answersBeforeMs: number },
): Promise<void> {
  for (;;) {
    const deleted = await writeTo(session, (tables) => {
      const olderSeq = tables.snapshotSeqs()[snapshotsKept - 1] ?? 0;
      const batches = tables.deleteBatches(Math.min(beforeSeq - 1, olderSeq), rowsPerTransaction);
      const answers = tables.deleteAnswers(answersBeforeMs, rowsPerTransaction);
      return { result: Math.max(batches, answers), changed: batches + answers > 0 };
    });
    if (deleted < rowsPerTransaction) return;
  }
}

async function pack(host: LogHost, { records, ...header }: Snapshot): Promise<StoredSnapshot> {
  const parts: { sizeBytes: number; bytes: Uint8Array }[] = [];
  for (const group of groupRecords(records)) {
    const text = new TextEncoder().encode(JSON.stringify(group));
    parts.push({ sizeBytes: text.length, bytes: await host.compression.gzip(text) });
  }
  return { ...header, parts, checksum: checksumOf(host, { ...header, parts }) };
}

function groupRecords(records: readonly string[]): readonly string[][] {
  const groups: string[][] = [];
  let sizeBytes = partBytes;
  for (const record of records) {
    if (sizeBytes >= partBytes) {
      groups.push([]);
      sizeBytes = 0;
    }
    groups.at(-1)?.push(record);
    sizeBytes += record.length;
  }
  return groups;
}

async function unpack(host: LogHost, { parts, checksum, ...header }: StoredSnapshot): Promise<Snapshot | null> {
  if (checksum !== checksumOf(host, { ...header, parts })) return null;
  const records: string[] = [];
  for (const { sizeBytes, bytes } of parts) {
    const text = new TextDecoder().decode(await host.compression.gunzip(bytes, sizeBytes));
    for (const record of JSON.parse(text) as readonly string[]) records.push(record);
  }
  return { ...header, records };
}

/** Over the header and each part's own hash: what matches it was written by `pack`, so unpacking cannot fail. */
function checksumOf(host: LogHost, snapshot: Omit<StoredSnapshot, 'checksum'>): string {
  const { incarnation, seq, hash, version, stateHash, parts } = snapshot;
  const hashes = parts.map(({ sizeBytes, bytes }) => [sizeBytes, host.digests.sha256(bytes)]);
  const text = JSON.stringify([incarnation, seq, hash, version, stateHash, hashes]);
  return host.digests.sha256(new TextEncoder().encode(text));
}

function belongsTo(tables: LogTables, snapshot: StoredSnapshot): boolean {
  const head = tables.head();
  if (snapshot.incarnation !== head.incarnation || snapshot.seq > head.lastSeq) return false;
  const batch = tables.batchEndingAt(snapshot.seq);
  return batch === null || batch.hash === snapshot.hash;
}
