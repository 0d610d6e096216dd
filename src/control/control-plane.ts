import type { Answer, Command } from '../core/command.ts';
import { step } from '../core/engine.ts';
import { evolve } from '../core/evolve.ts';
import type { Fact } from '../core/fact.ts';
import { isRefusal, type Refusal, refuse } from '../core/refusal.ts';
import type { State } from '../core/state.ts';
import type { Host } from '../host/host.ts';
import type { AppendView, Batch, Draft, FactLog, StoredAnswer } from '../log/fact-log.ts';
import { archiveRecord } from './archive.ts';
import { commitRefusal } from './commit-refusal.ts';
import { ReplicaIds } from './replica-ids.ts';
import { type LoadedState, loadState, saveState } from './snapshots.ts';

/** Told of every batch after it is folded, in order: its own and those of other processes. */
export type BatchListener = (batch: Batch<Fact>, state: State) => void;

export interface ExecuteOptions {
  /** The same key with the same command has one effect and one answer. */
  readonly idempotencyKey?: string;
  /** Blobs the command needs: refused when one is missing, pinned for the job when it is a submission. */
  readonly blobs?: readonly string[];
}

interface Waiting {
  readonly command: Command;
  readonly options: ExecuteOptions;
  readonly bodyHash: string;
  readonly resolve: (answer: Answer | Refusal) => void;
  readonly reject: (error: unknown) => void;
}

const mostCommandsPerCommit = 512;
const factsPerSnapshot = 20_000;

/**
 * The control plane: the core on a log. It is the only thing that decides, and the log the only thing it knows.
 * Commands that arrive while a commit is under way go into the next one together.
 */
export class ControlPlane {
  readonly #log: FactLog<Fact>;
  readonly #host: Host;
  readonly #onFault: (error: unknown) => void;
  readonly #ids: ReplicaIds;
  readonly #queue: Waiting[] = [];
  readonly #listeners = new Set<BatchListener>();
  #state: State;
  #seq: number;
  #hash: string;
  #snapshotSeq: number;
  #turn: Promise<void> = Promise.resolve();
  #writing = false;
  #catchUpDue = false;
  #closed = false;
  #endWatch: () => void = () => {};

  private constructor(log: FactLog<Fact>, host: Host, loaded: LoadedState, onFault: (error: unknown) => void) {
    this.#onFault = onFault;
    this.#log = log;
    this.#host = host;
    this.#ids = new ReplicaIds(host.chance);
    this.#state = loaded.state;
    this.#seq = loaded.seq;
    this.#hash = loaded.hash;
    this.#snapshotSeq = loaded.snapshotSeq;
  }

  /**
   * There is one way to start: fold what is there. A crash is no special case.
   * `onFault` is told when the log can no longer be followed.
   */
  static async open(log: FactLog<Fact>, host: Host, onFault: (error: unknown) => void): Promise<ControlPlane> {
    const plane = new ControlPlane(log, host, await loadState(log, host), onFault);
    plane.#endWatch = log.watch(() => plane.#scheduleCatchUp());
    return plane;
  }

  /** As of the last batch seen. For reading only, and only until the next await. */
  get state(): State {
    return this.#state;
  }

  /** Sequence number of the last fact folded. */
  get seq(): number {
    return this.#seq;
  }

  get log(): FactLog<Fact> {
    return this.#log;
  }

  nowMs(): number {
    return this.#log.nowMs();
  }

  /** Decides and commits. Resolves once the facts are durable; a refusal is a value. */
  execute(command: Command, options: ExecuteOptions = {}): Promise<Answer | Refusal> {
    if (this.#closed) return Promise.reject(new Error('the control plane has been closed'));
    const bodyHash = options.idempotencyKey === undefined ? '' : this.#host.digests.sha256(encodeBody(command));
    return new Promise((resolve, reject) => {
      this.#queue.push({ command, options, bodyHash, resolve, reject });
      this.#scheduleCommit();
    });
  }

  /** Folds what other processes have committed. */
  async catchUp(): Promise<void> {
    await this.#exclusively(() => this.#readTail());
  }

  subscribe(listener: BatchListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#endWatch();
    await this.#turn;
    await this.#log.close();
  }

  #scheduleCommit(): void {
    if (this.#writing) return;
    this.#writing = true;
    this.#background(async () => {
      while (this.#queue.length > 0) await this.#commit(this.#queue.splice(0, mostCommandsPerCommit));
      this.#writing = false;
    });
  }

  #scheduleCatchUp(): void {
    if (this.#catchUpDue || this.#closed) return;
    this.#catchUpDue = true;
    this.#background(async () => {
      this.#catchUpDue = false;
      if (!this.#closed) await this.#readTail();
    });
  }

  /** Work that nobody waits for: what goes wrong with it is told to whoever opened the control plane. */
  #background(work: () => Promise<void>): void {
    this.#exclusively(work).catch((error: unknown) => {
      if (!this.#closed) this.#onFault(error);
    });
  }

  /** One at a time: folding and committing never interleave. */
  #exclusively(work: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => {});
    return turn;
  }

  async #readTail(): Promise<void> {
    for (;;) {
      const batches = await this.#log.readAfter(this.#seq, 1000);
      if (batches.length === 0) return;
      for (const batch of batches) this.#fold(batch);
    }
  }

  async #commit(waiting: readonly Waiting[]): Promise<void> {
    let answers: readonly (Answer | Refusal)[] = [];
    let unfinished = false;
    try {
      await this.#readTail();
      const asked = askFor(
        waiting,
        this.#ids.prepare(
          this.#state,
          waiting.map(({ command }) => command),
        ),
      );
      const request = { afterSeq: this.#seq, ...asked };
      const result = await this.#log.append(request, (view) => {
        for (const batch of view.tail) this.#fold(batch);
        const decided = decideAll(this.#state, waiting, view, this.#ids);
        answers = decided.answers;
        unfinished = decided.unfinished;
        return decided.draft;
      });
      if (result.appended !== null) this.#announce(result.appended);
      waiting.forEach((one, position) => one.resolve(answers[position] as Answer | Refusal));
      if (unfinished) this.#goOn();
      await this.#maybeSnapshot();
    } catch (error) {
      await this.#reload(waiting, error);
    }
  }

  /** Evolved already by the step that decided it. */
  #announce(batch: Batch<Fact>): void {
    this.#seq = batch.seq + batch.facts.length - 1;
    this.#hash = batch.hash;
    this.#tell(batch);
  }

  #tell(batch: Batch<Fact>): void {
    for (const listener of this.#listeners) listener(batch, this.#state);
  }

  #fold(batch: Batch<Fact>): void {
    if (batch.seq !== this.#seq + 1)
      throw new Error(`the log continues at fact ${batch.seq}, expected ${this.#seq + 1}`);
    for (const fact of batch.facts) evolve(this.#state, fact, batch);
    this.#announce(batch);
  }

  #goOn(): void {
    this.execute({ kind: 'Tick' }).catch(() => {
      // The next command or tick places what is left; there is nobody to tell.
    });
  }

  /** The facts may not be there though the state has them: drop it, fold anew, and say why. */
  async #reload(waiting: readonly Waiting[], error: unknown): Promise<void> {
    const loaded = await loadState(this.#log, this.#host);
    const missed = await this.#log.readAfter(this.#seq);
    this.#state = loaded.state;
    this.#seq = loaded.seq;
    this.#hash = loaded.hash;
    // Listeners hear of every batch once, those included that loading has folded.
    for (const batch of missed) if (batch.seq <= loaded.seq) this.#tell(batch);
    const refusal = commitRefusal(error);
    for (const one of waiting) {
      if (refusal === null) one.reject(error);
      else one.resolve(refusal);
    }
  }

  async #maybeSnapshot(): Promise<void> {
    if (this.#seq - this.#snapshotSeq < factsPerSnapshot) return;
    this.#snapshotSeq = this.#seq;
    await saveState(this.#log, this.#host, { state: this.#state, seq: this.#seq, hash: this.#hash });
  }
}

/** What must be looked up under the lock for these commands. */
function askFor(
  waiting: readonly Waiting[],
  replicaIds: readonly string[],
): { keys: string[]; ids: string[]; blobs: string[] } {
  const keys: string[] = [];
  const ids: string[] = [...replicaIds];
  const blobs: string[] = [];
  for (const { command, options } of waiting) {
    if (options.idempotencyKey !== undefined) keys.push(options.idempotencyKey);
    if (command.kind === 'SubmitJob') ids.push(...command.ids);
    blobs.push(...(options.blobs ?? []));
  }
  return { keys, ids, blobs };
}

function decideAll(
  state: State,
  waiting: readonly Waiting[],
  view: AppendView<Fact>,
  replicaIds: ReplicaIds,
): { draft: Draft<Fact> | null; answers: readonly (Answer | Refusal)[]; unfinished: boolean } {
  const { answered, fresh } = splitByKey(waiting, view);
  const context = {
    atMs: view.atMs,
    nowMs: view.nowMs,
    archivedIds: view.archivedIds,
    missingBlobs: view.missingBlobs,
    drawId: (name: string) => replicaIds.drawId(name, state, view.archivedIds),
  };
  const result = step(
    state,
    fresh.map(({ command }) => command),
    context,
  );
  fresh.forEach((one, position) => answered.set(one, result.answers[position] as Answer | Refusal));
  const keep: StoredAnswer[] = [];
  const pins: { holder: string; blobs: readonly string[] }[] = [];
  for (const one of fresh) {
    const answer = answered.get(one);
    if (answer === undefined || isRefusal(answer)) continue;
    const { idempotencyKey, blobs } = one.options;
    if (idempotencyKey !== undefined) keep.push({ key: idempotencyKey, bodyHash: one.bodyHash, answer });
    if (answer.kind === 'submitted' && blobs !== undefined) pins.push({ holder: answer.job, blobs });
  }
  const answers = waiting.map((one) => resolveRepeat(one, answered, waiting));
  if (result.facts.length === 0 && keep.length === 0) return { draft: null, answers, unfinished: result.unfinished };
  const outputs = outputPins(result.facts);
  const archive = result.archived.map((job) => archiveRecord(job));
  return {
    draft: { facts: result.facts, answers: keep, archive, pins: [...pins, ...outputs] },
    answers,
    unfinished: result.unfinished,
  };
}

/** Commands whose key was answered before, and those to decide; of two with one key in one batch the first decides. */
function splitByKey(
  waiting: readonly Waiting[],
  view: AppendView<Fact>,
): { answered: Map<Waiting, Answer | Refusal>; fresh: Waiting[] } {
  const answered = new Map<Waiting, Answer | Refusal>();
  const fresh: Waiting[] = [];
  const first = new Map<string, Waiting>();
  for (const one of waiting) {
    const key = one.options.idempotencyKey;
    if (key === undefined) {
      fresh.push(one);
      continue;
    }
    const stored = view.answers.get(key);
    const earlier = first.get(key);
    const bodyHash = stored?.bodyHash ?? earlier?.bodyHash;
    if (bodyHash === undefined) {
      first.set(key, one);
      fresh.push(one);
    } else if (bodyHash !== one.bodyHash) {
      answered.set(
        one,
        refuse('IDEMPOTENCY_MISMATCH', `idempotency key ${JSON.stringify(key)} was used for another request`, {
          hint: 'draw a new key',
        }),
      );
    } else if (stored !== undefined) {
      answered.set(one, stored.answer as Answer);
    }
  }
  return { answered, fresh };
}

function resolveRepeat(
  one: Waiting,
  answered: ReadonlyMap<Waiting, Answer | Refusal>,
  waiting: readonly Waiting[],
): Answer | Refusal {
  const own = answered.get(one);
  if (own !== undefined) return own;
  const first = waiting.find(
    (other) => other.options.idempotencyKey === one.options.idempotencyKey && answered.has(other),
  );
  const answer = first === undefined ? undefined : answered.get(first);
  if (answer === undefined) throw new Error('a command was neither decided nor answered');
  return answer;
}

/** Collected outputs stay as long as their job is known. */
function outputPins(facts: readonly Fact[]): readonly { holder: string; blobs: readonly string[] }[] {
  return facts.flatMap((fact) =>
    fact.kind === 'OutputsCollected' && fact.manifest !== null ? [{ holder: fact.job, blobs: [fact.manifest] }] : [],
  );
}

function encodeBody(command: Command): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ ...command, ids: undefined }));
}
