/**
 * The log of facts, and the one algorithm that writes to it: lock, catch up, decide, append, commit.
 *
 * Any number of processes may hold a FactLog on the same store. Whoever holds the lock sees every fact before it decides,
 * so nothing is decided in vain and nothing is decided twice. Memory, SQLite and (later) PostgreSQL pass one contract suite.
 */

/** Facts are plain JSON with a `kind`; what they mean is the core's business. */
export interface LoggedFact {
  readonly kind: string;
}

/** What one commit appended: its facts, when, and the chain that makes a rewind visible. */
export interface Batch<Fact extends LoggedFact = LoggedFact> {
  /** Sequence number of the first fact; facts are numbered without gaps from 1. */
  readonly seq: number;
  readonly facts: readonly Fact[];
  /** Random; lets a writer whose commit outcome is unknown look whether it happened. */
  readonly id: string;
  /** Wall clock, Unix milliseconds: shown to people. */
  readonly atMs: number;
  /** Log time, milliseconds: drives timers, never decreases. */
  readonly nowMs: number;
  /** Boot of the machine that wrote it, and CLOCK_BOOTTIME then: log time advances by their difference within a boot. */
  readonly bootId: string;
  readonly bootMs: number;
  /** Format number the facts are written in. */
  readonly format: number;
  readonly previousHash: string;
  /** SHA-256 over the previous hash and this batch. */
  readonly hash: string;
}

/** A stored answer to a command with an idempotency key. */
export interface StoredAnswer {
  readonly key: string;
  /** Hash of the command's body: the same key with another body is refused. */
  readonly bodyHash: string;
  readonly answer: unknown;
}

export interface ArchivedRecord {
  readonly id: string;
  readonly name: string;
  readonly project: string;
  readonly owner: string;
  readonly state: string;
  readonly submittedAtMs: number;
  readonly endedAtMs: number;
  readonly record: unknown;
}

/** What `decide` may look at, read under the lock. */
export interface AppendView<Fact extends LoggedFact = LoggedFact> {
  /** Batches after `afterSeq`, oldest first. */
  readonly tail: readonly Batch<Fact>[];
  /** Answers already stored for the keys asked for. */
  readonly answers: ReadonlyMap<string, StoredAnswer>;
  /** Those of the ids asked for that the archive already has. */
  readonly archivedIds: ReadonlySet<string>;
  /** Those of the blobs asked for that are not in the blob table. */
  readonly missingBlobs: ReadonlySet<string>;
  /** Leases of the names asked for, as they stand under the lock; one that nobody holds is absent. */
  readonly leases: ReadonlyMap<string, Lease>;
  readonly atMs: number;
  readonly nowMs: number;
  /** True when more than 60 s of log time passed since the last batch with no process to notice: the outage rule applies. */
  readonly afterOutage: boolean;
}

/** What a decision wants written. Everything in it commits together or not at all. */
export interface Draft<Fact extends LoggedFact = LoggedFact> {
  readonly facts: readonly Fact[];
  readonly answers?: readonly StoredAnswer[];
  readonly archive?: readonly ArchivedRecord[];
  /** Blobs that `holder` needs from now on, and holders that need theirs no more. */
  readonly pins?: readonly { readonly holder: string; readonly blobs: readonly string[] }[];
  readonly unpins?: readonly string[];
  /** Whoever puts leases has looked at `afterOutage`: an outage is over with that. */
  readonly leases?: readonly LeaseGrant[];
}

export interface AppendRequest {
  /** Sequence number up to which the caller's state has evolved (0: nothing). */
  readonly afterSeq: number;
  readonly keys?: readonly string[];
  readonly ids?: readonly string[];
  readonly blobs?: readonly string[];
  readonly leases?: readonly string[];
}

export interface AppendResult<Fact extends LoggedFact = LoggedFact> {
  readonly tail: readonly Batch<Fact>[];
  /** The new batch; null when the draft had no facts. */
  readonly appended: Batch<Fact> | null;
}

export interface ArchiveFilter {
  readonly name?: string;
  readonly idPrefix?: string;
  readonly project?: string;
  readonly owner?: string;
  readonly state?: string;
  /** Newest first: those that ended last, unless it is told otherwise. */
  readonly limit: number;
  /** `submission`: those that were submitted last. */
  readonly order?: 'end' | 'submission';
  /** Records that ended before this one, for paging. */
  readonly beforeId?: string;
  /** Wall time. */
  readonly endedSinceMs?: number;
  /** Wall time; those of that very millisecond are in. */
  readonly submittedUpToMs?: number;
}

export interface Snapshot {
  readonly incarnation: string;
  /** Last fact it contains. */
  readonly seq: number;
  /** Hash of the batch that ends there. */
  readonly hash: string;
  /** Version of the state's shape. */
  readonly version: number;
  readonly stateHash: string;
  readonly records: readonly string[];
}

export interface Lease {
  readonly name: string;
  readonly holder: string;
  readonly epoch: number;
  /** Log time, milliseconds. */
  readonly untilMs: number;
  /** Log time at which the holder itself last took or renewed it; null when it was only ever given it. */
  readonly heardAtMs: number | null;
}

/** A lease to put, whoever held it before: what the facts say of the holder is for the caller to know. */
export interface LeaseGrant {
  readonly name: string;
  readonly holder: string;
  readonly forMs: number;
  /** The holder asks for it: a sign of life. Otherwise it is given time that it did not ask for, and loses none by it. */
  readonly heard: boolean;
}

export interface FactLog<Fact extends LoggedFact = LoggedFact> {
  /** Minted when the log was created, and anew by every restore. */
  readonly incarnation: string;

  /** Batches after `afterSeq` without taking the lock; at most `limitBatches`. */
  readAfter(afterSeq: number, limitBatches?: number): Promise<readonly Batch<Fact>[]>;

  /**
   * Takes the lock, reads the tail, calls `decide` once with it, writes its draft and commits.
   * `decide` is synchronous and must not throw; null means that nothing is to be written.
   * On a failed commit nothing is applied and the error says so (HostError `ENOSPC` when the disk is full):
   * the caller drops its state and loads it again.
   */
  append(request: AppendRequest, decide: (view: AppendView<Fact>) => Draft<Fact> | null): Promise<AppendResult<Fact>>;

  /**
   * Calls back soon after another process committed, and at least looks every 100 ms. Returns a function that ends it.
   * Start watching before reading: what was committed earlier wakes nobody.
   */
  watch(listener: () => void): () => void;

  saveSnapshot(snapshot: Snapshot): Promise<void>;
  /** The two newest, newest first; one that does not verify is left out. */
  loadSnapshots(): Promise<readonly Snapshot[]>;
  /**
   * Forgets batches that end before `beforeSeq` (never beyond the older of two kept snapshots: with fewer, none) and
   * answers stored before that log time.
   */
  trim(options: { beforeSeq: number; answersBeforeMs: number }): Promise<void>;

  archived(id: string): Promise<ArchivedRecord | null>;
  listArchive(filter: ArchiveFilter): Promise<readonly ArchivedRecord[]>;
  /** Removes records that ended before the given wall time; returns how many. */
  pruneArchive(endedBeforeMs: number): Promise<number>;

  /** Blobs that a holder has pinned. */
  pinnedBlobs(): Promise<ReadonlySet<string>>;
  /** Tells the log that these blobs are stored, so that a submission may name them. */
  recordBlobs(hashes: readonly string[]): Promise<void>;
  /** Forgets those that no holder has pinned meanwhile and returns them: only their bytes may be deleted. */
  forgetBlobs(hashes: readonly string[]): Promise<readonly string[]>;

  /** Takes or renews a lease; null when another holder has it. Writes no fact. */
  renewLease(lease: { name: string; holder: string; forMs: number }): Promise<Lease | null>;
  /** Puts many leases with one write. Writes no fact, and notices an outage as a single renewal does. */
  renewLeases(grants: readonly LeaseGrant[]): Promise<void>;
  readLeases(): Promise<readonly Lease[]>;
  dropLease(name: string, holder: string): Promise<void>;

  /** Log time now, milliseconds, extrapolated from the last batch seen. */
  nowMs(): number;
  close(): Promise<void>;
}
