import type { StoredBatch } from './batch.ts';
import type { ArchivedRecord, ArchiveFilter, StoredAnswer } from './fact-log.ts';
import type { Head, LogTables, StoredLease, StoredSnapshot, Writer } from './tables.ts';
import { undoableMap } from './undoable-map.ts';

/** Tables in memory with transactions: `end(false)` takes back everything since `begin`. */
export interface MemoryTables extends LogTables {
  begin(): void;
  end(keep: boolean): void;
}

/** Values that callers may hold on to are kept as JSON text, as a file would keep them. */
export function createMemoryTables(initial: Head): MemoryTables {
  let undo: (() => void)[] = [];
  const record = (step: () => void): void => void undo.push(step);
  const head = undoableMap<'head', Head>(record, [['head', initial]]);
  return {
    begin: () => {
      undo = [];
    },
    end: (keep) => {
      if (!keep) for (const step of undo.toReversed()) step();
      undo = [];
    },
    head: () => head.get('head') ?? initial,
    setHead: (value) => head.set('head', value),
    ...batchTable(record),
    ...answerTable(record),
    ...archiveTable(record),
    ...blobTables(record),
    ...leaseTable(record),
    ...snapshotTable(record),
    ...writerTable(record),
  };
}

type Remember = (undo: () => void) => void;

function batchTable(
  record: Remember,
): Pick<LogTables, 'batchesAfter' | 'batchEndingAt' | 'addBatch' | 'deleteBatches'> {
  let batches: StoredBatch[] = [];
  /** Index of the first batch that ends after `seq`. */
  const indexAfter = (seq: number): number => {
    let low = 0;
    let high = batches.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((batches[middle]?.lastSeq ?? 0) > seq) high = middle;
      else low = middle + 1;
    }
    return low;
  };
  return {
    batchesAfter: (seq, limit) => {
      const start = indexAfter(seq);
      return batches.slice(start, start + limit);
    },
    batchEndingAt: (lastSeq) => {
      const found = batches[indexAfter(lastSeq) - 1];
      return found?.lastSeq === lastSeq ? found : null;
    },
    addBatch: (batch) => {
      batches.push(batch);
      record(() => void batches.pop());
    },
    deleteBatches: (lastSeq, limit) => {
      const count = Math.min(indexAfter(lastSeq), limit);
      const before = batches;
      batches = batches.slice(count);
      record(() => {
        batches = before;
      });
      return count;
    },
  };
}

function answerTable(record: Remember): Pick<LogTables, 'answers' | 'putAnswer' | 'deleteAnswers'> {
  const answers = undoableMap<string, { text: string; nowMs: number }>(record);
  return {
    answers: (keys) => keys.flatMap((key) => parsed<StoredAnswer>(answers.get(key)?.text)),
    putAnswer: (answer, nowMs) => answers.set(answer.key, { text: JSON.stringify(answer), nowMs }),
    deleteAnswers: (beforeMs, limit) => {
      const old = [...answers.entries()].filter(([, { nowMs }]) => nowMs < beforeMs).slice(0, limit);
      for (const [key] of old) answers.delete(key);
      return old.length;
    },
  };
}

function archiveTable(
  record: Remember,
): Pick<LogTables, 'archivedIds' | 'archived' | 'listArchive' | 'putArchived' | 'deleteArchived'> {
  const records = undoableMap<string, string>(record);
  const all = (): ArchivedRecord[] => [...records.values()].flatMap((text) => parsed<ArchivedRecord>(text));
  return {
    archivedIds: (ids) => ids.filter((id) => records.get(id) !== undefined),
    archived: (id) => parsed<ArchivedRecord>(records.get(id))[0] ?? null,
    listArchive: (filter) => {
      const before = filter.beforeId === undefined ? null : parsed<ArchivedRecord>(records.get(filter.beforeId))[0];
      if (before === undefined) return [];
      return all()
        .filter((item) => matches(item, filter) && (before === null || newestFirst(before, item) < 0))
        .sort(filter.order === 'submission' ? lastSubmittedFirst : newestFirst)
        .slice(0, filter.limit);
    },
    putArchived: (item) => records.set(item.id, JSON.stringify(item)),
    deleteArchived: (endedBeforeMs) => {
      const old = all().filter((item) => item.endedAtMs < endedBeforeMs);
      for (const { id } of old) records.delete(id);
      return old.length;
    },
  };
}

function blobTables(
  record: Remember,
): Pick<LogTables, 'storedBlobs' | 'addBlobs' | 'deleteUnpinnedBlobs' | 'pinnedBlobs' | 'pin' | 'unpin'> {
  const blobs = undoableMap<string, true>(record);
  const pins = undoableMap<string, ReadonlySet<string>>(record);
  const pinned = (): Set<string> => new Set([...pins.values()].flatMap((hashes) => [...hashes]));
  return {
    storedBlobs: (hashes) => hashes.filter((hash) => blobs.get(hash) === true),
    addBlobs: (hashes) => {
      for (const hash of hashes) blobs.set(hash, true);
    },
    deleteUnpinnedBlobs: (hashes) => {
      const held = pinned();
      const unpinned = hashes.filter((hash) => !held.has(hash));
      for (const hash of unpinned) blobs.delete(hash);
      return unpinned;
    },
    pinnedBlobs: () => [...pinned()].sort(),
    pin: (holder, hashes) => pins.set(holder, new Set([...(pins.get(holder) ?? []), ...hashes])),
    unpin: (holder) => pins.delete(holder),
  };
}

function leaseTable(record: Remember): Pick<LogTables, 'leases' | 'lease' | 'putLease'> {
  const leases = undoableMap<string, StoredLease>(record);
  return {
    leases: () => [...leases.values()].sort((a, b) => compare(a.name, b.name)),
    lease: (name) => leases.get(name) ?? null,
    putLease: (lease) => leases.set(lease.name, lease),
  };
}

function snapshotTable(
  record: Remember,
): Pick<LogTables, 'snapshotSeqs' | 'snapshot' | 'putSnapshot' | 'deleteSnapshot'> {
  const snapshots = undoableMap<number, StoredSnapshot>(record);
  return {
    snapshotSeqs: () => [...snapshots.entries()].map(([seq]) => seq).sort((a, b) => b - a),
    snapshot: (seq) => snapshots.get(seq) ?? null,
    putSnapshot: (snapshot) => snapshots.set(snapshot.seq, snapshot),
    deleteSnapshot: (seq) => snapshots.delete(seq),
  };
}

function writerTable(record: Remember): Pick<LogTables, 'writers' | 'putWriter' | 'deleteWriter'> {
  const writers = undoableMap<string, Writer>(record);
  return {
    writers: () => [...writers.values()],
    putWriter: (writer) => writers.set(writer.id, writer),
    deleteWriter: (id) => writers.delete(id),
  };
}

function parsed<T>(text: string | undefined): [T] | [] {
  return text === undefined ? [] : [JSON.parse(text) as T];
}

function matches(record: ArchivedRecord, filter: ArchiveFilter): boolean {
  return (
    (filter.name === undefined || record.name === filter.name) &&
    (filter.idPrefix === undefined || record.id.startsWith(filter.idPrefix)) &&
    (filter.project === undefined || record.project === filter.project) &&
    (filter.owner === undefined || record.owner === filter.owner) &&
    (filter.state === undefined || record.state === filter.state) &&
    (filter.endedSinceMs === undefined || record.endedAtMs >= filter.endedSinceMs) &&
    (filter.submittedUpToMs === undefined || record.submittedAtMs <= filter.submittedUpToMs)
  );
}

function newestFirst(a: ArchivedRecord, b: ArchivedRecord): number {
  return b.endedAtMs - a.endedAtMs || compare(b.id, a.id);
}

function lastSubmittedFirst(a: ArchivedRecord, b: ArchivedRecord): number {
  return b.submittedAtMs - a.submittedAtMs || compare(b.id, a.id);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
