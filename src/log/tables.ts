import type { ProcessIdentity } from '../host/processes.ts';
import type { StoredBatch } from './batch.ts';
import type { ArchivedRecord, ArchiveFilter, Lease, StoredAnswer } from './fact-log.ts';
import type { TimeAnchor } from './log-time.ts';

/** The one row that says where the log stands. */
export interface Head {
  readonly incarnation: string;
  readonly format: number;
  /** Last fact's number and its batch's hash; 0 and the genesis hash in an empty log. */
  readonly lastSeq: number;
  readonly lastHash: string;
  /** When something was last written, a lease renewal included. */
  readonly anchor: TimeAnchor;
  /** An outage was noticed and no batch has been written since. */
  readonly outage: boolean;
}

/** A live process that holds the log open, and the formats it can use. A null identity is never judged dead. */
export interface Writer {
  readonly id: string;
  readonly identity: ProcessIdentity | null;
  readonly supports: readonly number[];
}

/** A snapshot as it is stored: the records' JSON text in compressed parts, and a checksum over the whole. */
export interface StoredSnapshot {
  readonly incarnation: string;
  readonly seq: number;
  readonly hash: string;
  readonly version: number;
  readonly stateHash: string;
  readonly checksum: string;
  readonly parts: readonly { readonly sizeBytes: number; readonly bytes: Uint8Array }[];
}

/**
 * What a store can do within one transaction. All of it is synchronous: SQLite's binding is, and so a transaction never
 * spans an await, nothing else of this process can get in between, and a process that dies holds no lock.
 */
export interface LogTables {
  head(): Head;
  setHead(head: Head): void;

  /** Oldest first. */
  batchesAfter(seq: number, limit: number): readonly StoredBatch[];
  batchEndingAt(lastSeq: number): StoredBatch | null;
  addBatch(batch: StoredBatch): void;
  /** Deletes at most `limit` batches that end at `lastSeq` or before, oldest first; returns how many. */
  deleteBatches(lastSeq: number, limit: number): number;

  answers(keys: readonly string[]): readonly StoredAnswer[];
  putAnswer(answer: StoredAnswer, nowMs: number): void;
  deleteAnswers(beforeMs: number, limit: number): number;

  archivedIds(ids: readonly string[]): readonly string[];
  archived(id: string): ArchivedRecord | null;
  listArchive(filter: ArchiveFilter): readonly ArchivedRecord[];
  putArchived(record: ArchivedRecord): void;
  deleteArchived(endedBeforeMs: number): number;

  storedBlobs(hashes: readonly string[]): readonly string[];
  addBlobs(hashes: readonly string[]): void;
  /** Deletes those that nobody pins and returns them. */
  deleteUnpinnedBlobs(hashes: readonly string[]): readonly string[];
  pinnedBlobs(): readonly string[];
  pin(holder: string, hashes: readonly string[]): void;
  unpin(holder: string): void;

  /** Dropped leases stay as rows without a holder, for their epoch. */
  leases(): readonly StoredLease[];
  lease(name: string): StoredLease | null;
  putLease(lease: StoredLease): void;

  /** Sequence numbers, newest first. */
  snapshotSeqs(): readonly number[];
  snapshot(seq: number): StoredSnapshot | null;
  putSnapshot(snapshot: StoredSnapshot): void;
  deleteSnapshot(seq: number): void;

  writers(): readonly Writer[];
  putWriter(writer: Writer): void;
  deleteWriter(id: string): void;
}

export interface StoredLease extends Omit<Lease, 'holder'> {
  readonly holder: string | null;
}
