import type { Answer, Command } from '../core/command.ts';
import { evolve } from '../core/evolve.ts';
import type { Fact } from '../core/fact.ts';
import { type LeaseTimes, leaseTimes } from '../core/node/lease-times.ts';
import { isRefusal, type Refusal } from '../core/refusal.ts';
import type { State } from '../core/state.ts';
import type { Host } from '../host/host.ts';
import type { Batch, FactLog } from '../log/fact-log.ts';
import { hashBody } from './body-hash.ts';
import { commitRefusal } from './commit-refusal.ts';
import { askFor, decideBatch, type ExecuteOptions, type Waiting } from './decide-batch.ts';
import { attemptOf, RefusalAudit, type RefusedAttempt } from './refusal-audit.ts';
import { ReplicaIds } from './replica-ids.ts';
import { type LoadedState, loadState, saveState } from './snapshots.ts';

/** Told of every batch after it is folded, in order: its own and those of other processes. */
export type BatchListener = (batch: Batch<Fact>, state: State) => void;

/** A command in the queue, with whoever asked for it. */
interface Asked extends Waiting {
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
  /** How long nodes that join over the network may be silent. */
  readonly leaseTimes: LeaseTimes;
  readonly #log: FactLog<Fact>;
  readonly #host: Host;
  readonly #onFault: (error: unknown) => void;
  readonly #ids: ReplicaIds;
  readonly #audit = new RefusalAudit();
  readonly #queue: Asked[] = [];
  readonly #listeners = new Map<BatchListener, () => void>();
  readonly #toldOfReloads = new Set<() => void>();
  #state: State;
  #seq: number;
  #hash: string;
  #snapshotSeq: number;
  #turn: Promise<void> = Promise.resolve();
  #writing = false;
  #catchUpDue = false;
  #closed = false;
  #endWatch: (() => void) | null = null;

  private constructor(
    log: FactLog<Fact>,
    host: Host,
    { loaded, onFault, times }: { loaded: LoadedState; onFault: (error: unknown) => void; times: LeaseTimes },
  ) {
    this.#onFault = onFault;
    this.leaseTimes = times;
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
  static async open(
    log: FactLog<Fact>,
    host: Host,
    onFault: (error: unknown) => void,
    times: LeaseTimes = leaseTimes,
  ): Promise<ControlPlane> {
    return new ControlPlane(log, host, { loaded: await loadState(log, host), onFault, times });
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
    const bodyHash = options.idempotencyKey === undefined ? '' : hashBody(this.#host.digests, command, options);
    return new Promise((resolve, reject) => {
      this.#queue.push({ command, options, bodyHash, resolve, reject });
      this.#scheduleCommit();
    });
  }

  /** Notes that somebody who is known was refused something; what was refused here as a command is noted by itself. */
  auditRefusal(attempt: RefusedAttempt): void {
    for (const record of this.#audit.note(attempt, this.nowMs())) this.#record(record);
  }

  #record(record: Command): void {
    if (!this.#closed) this.execute(record).catch(this.#onFault);
  }

  /** Folds what other processes have committed. */
  async catchUp(): Promise<void> {
    await this.#exclusively(() => this.#readTail());
  }

  /**
   * Tells of every batch from here on. The log is watched only while somebody listens: a program that waits for nothing
   * costs nothing, and ends by itself though it closed nothing. `onClose` is told when there will be no more: whoever
   * waits for a batch then would wait for ever.
   */
  subscribe(listener: BatchListener, onClose: () => void = () => {}): () => void {
    const own: BatchListener = (batch, state) => listener(batch, state);
    if (this.#closed) onClose();
    else this.#listeners.set(own, onClose);
    if (this.#endWatch === null && !this.#closed) {
      this.#endWatch = this.#log.watch(() => this.#scheduleCatchUp());
      this.#scheduleCatchUp();
    }
    return () => {
      this.#listeners.delete(own);
      if (this.#listeners.size === 0) this.#unwatch();
    };
  }

  /** Tells when the state was loaded anew: what a commit had brought about that failed then is not there any more. */
  onReload(tell: () => void): () => void {
    const own = (): void => tell();
    this.#toldOfReloads.add(own);
    return () => void this.#toldOfReloads.delete(own);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    for (const record of this.#audit.rest()) this.#record(record);
    this.#closed = true;
    this.#unwatch();
    for (const onClose of this.#listeners.values()) onClose();
    await this.#turn;
    await this.#log.close();
  }

  #unwatch(): void {
    this.#endWatch?.();
    this.#endWatch = null;
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

  async #commit(waiting: readonly Asked[]): Promise<void> {
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
        const decided = decideBatch(this.#state, waiting, view, {
          replicaIds: this.#ids,
          leaseTimes: this.leaseTimes,
        });
        answers = decided.answers;
        unfinished = decided.unfinished;
        return decided.draft;
      });
      if (result.appended !== null) this.#announce(result.appended);
      for (const [position, one] of waiting.entries()) this.#answer(one, answers[position] as Answer | Refusal);
      if (unfinished) this.#goOn();
      await this.#maybeSnapshot();
    } catch (error) {
      // Whatever else goes wrong, whoever asked is answered.
      await this.#reload().catch((fault: unknown) => this.#onFault(fault));
      answerFailure(waiting, error);
    }
  }

  #answer(asked: Asked, answer: Answer | Refusal): void {
    asked.resolve(answer);
    const attempt = isRefusal(answer) ? attemptOf(asked.options.actor, asked.command, answer) : null;
    if (attempt !== null) this.auditRefusal(attempt);
  }

  /** Evolved already by the step that decided it. */
  #announce(batch: Batch<Fact>): void {
    this.#seq = batch.seq + batch.facts.length - 1;
    this.#hash = batch.hash;
    this.#tell(batch);
  }

  #tell(batch: Batch<Fact>): void {
    for (const listener of this.#listeners.keys()) listener(batch, this.#state);
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

  /** The facts may not be there though the state has them: drop it and fold anew. */
  async #reload(): Promise<void> {
    const loaded = await loadState(this.#log, this.#host);
    const missed = await this.#log.readAfter(this.#seq);
    this.#state = loaded.state;
    this.#seq = loaded.seq;
    this.#hash = loaded.hash;
    // Listeners hear of every batch once, those included that loading has folded.
    for (const batch of missed) if (batch.seq <= loaded.seq) this.#tell(batch);
    for (const tell of this.#toldOfReloads) tell();
  }

  async #maybeSnapshot(): Promise<void> {
    if (this.#seq - this.#snapshotSeq < factsPerSnapshot) return;
    this.#snapshotSeq = this.#seq;
    await saveState(this.#log, this.#host, { state: this.#state, seq: this.#seq, hash: this.#hash });
  }
}

/** A commit that failed for a reason that has a name is refused; anything else is thrown where it was asked. */
function answerFailure(waiting: readonly Asked[], error: unknown): void {
  const refusal = commitRefusal(error);
  for (const one of waiting) {
    if (refusal === null) one.reject(error);
    else one.resolve(refusal);
  }
}
