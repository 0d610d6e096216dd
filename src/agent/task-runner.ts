import type { TaskEvent } from '../core/job/facts.ts';
import type { TaskKey } from '../core/job/job.ts';
import type { Order } from '../core/node/orders.ts';
import { sleep } from '../host/clock.ts';
import { HostError } from '../host/files.ts';
import { type Attempt, attemptOf, type AttemptJournal, readJournal, writeJournal } from './attempt.ts';
import { readRecords, takeClaim } from './records.ts';
import { collect } from './steps/collect.ts';
import { materialise } from './steps/materialise.ts';
import { prepare } from './steps/prepare.ts';
import { run } from './steps/run.ts';
import { setup } from './steps/setup.ts';
import { stopTree } from './stop-ladder.ts';
import type { NodeContext, StepWork, TaskContext } from './task-context.ts';

const work: Readonly<Record<Order['step'], StepWork>> = { materialize: materialise, setup, prepare, run, collect };

/**
 * Keeps one attempt at the step that its order names. Orders are levels: told the same again it does nothing, told
 * another step it lets go of the present one first.
 */
export class TaskRunner {
  readonly attempt: Attempt;
  readonly #node: NodeContext;
  readonly #report: (event: TaskEvent) => void;
  readonly #done = new Set<Order['step']>();
  #order: Order | null = null;
  #abort: AbortController | null = null;
  #wake: () => void = () => {};
  #stopping: { graceMs: number; result: Promise<'gone' | 'unkillable'> } | null = null;
  #closed = false;
  #gone = false;
  #port: number | null = null;

  constructor(node: NodeContext, key: TaskKey, report: (event: TaskEvent) => void) {
    this.#node = node;
    this.#report = report;
    this.attempt = attemptOf(node.directory, node.node, key);
  }

  get port(): number | null {
    return this.#port;
  }

  /** True once nothing of its process tree is left, and nothing more will start. */
  get isGone(): boolean {
    return this.#gone;
  }

  setOrder(order: Order): void {
    const stepChanged = order.step !== this.#order?.step;
    this.#order = order;
    if (stepChanged) this.#abort?.abort();
    else if (order.stop !== null && this.#stopping !== null) void this.#stop(order.stop.graceMs);
    this.#wake();
  }

  /** Lets go of everything; processes run on. */
  close(): void {
    this.#closed = true;
    this.#abort?.abort();
    this.#wake();
  }

  /** Follows orders until closed. Rejects only on a bug or a fault of the node's own disk. */
  async drive(): Promise<void> {
    while (!this.#closed) {
      const order = this.#order;
      if (order === null || this.#done.has(order.step)) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        continue;
      }
      const event = await this.#performWithRoom(order);
      if (event === null || this.#closed) continue;
      this.#done.add(order.step);
      if (leavesNothing(event)) this.#gone = true;
      this.#report(event);
    }
  }

  /** Ends the whole tree, whatever the orders say: the attempt is no longer the current one. */
  fence(): Promise<'gone' | 'unkillable'> {
    return this.#stop(0);
  }

  /** A full disk holds up this attempt and nothing else: with room again the step is begun anew. */
  async #performWithRoom(order: Order): Promise<TaskEvent | null> {
    const abort = new AbortController();
    this.#abort = abort;
    try {
      return await this.#perform(order, abort);
    } catch (error) {
      // The attempt was put aside under the step: whatever it missed then is missed by nobody.
      if (this.#closed) return null;
      if (!(error instanceof HostError) || error.code !== 'ENOSPC') throw error;
      const { diskGuard, host } = this.#node;
      await diskGuard.giveUpBallast();
      await sleep(host.timers, fullDiskPauseMs, abort.signal);
      await diskGuard.waitForRoom(abort.signal);
      return null;
    }
  }

  async #perform(order: Order, abort: AbortController): Promise<TaskEvent | null> {
    const journal = await this.#journal(order);
    if (journal === null)
      return { kind: 'NodeFault', message: 'the records of the attempt are gone from the node', held: false };
    const context: TaskContext = {
      ...this.#node,
      attempt: this.attempt,
      order,
      port: journal.port,
      signal: abort.signal,
      tell: this.#report,
      stop: (graceMs) => this.#stop(graceMs),
    };
    return abort.signal.aborted ? null : work[order.step](context);
  }

  /** The attempt's journal, written before anything is done for it; null when it was there once and is no more. */
  async #journal(order: Order): Promise<AttemptJournal | null> {
    const { files } = this.#node.host;
    const known = await readJournal(files, this.attempt);
    if (known !== null) {
      if (known.port !== null && this.#port === null) this.#node.ports.hold(known.port);
      this.#port = known.port;
      return known;
    }
    if (order.begun) return null;
    const { port: wanted, nodes } = order.task.settings;
    if (wanted || nodes > 1) this.#port ??= await this.#node.ports.take();
    const journal = { task: order.task, port: this.#port };
    await writeJournal(files, this.attempt, journal);
    return journal;
  }

  /** One ladder at a time; a shorter grace overtakes the longer one that is under way. */
  #stop(graceMs: number): Promise<'gone' | 'unkillable'> {
    if (this.#stopping !== null && this.#stopping.graceMs <= graceMs) return this.#stopping.result;
    const result = this.#climb(graceMs).finally(() => {
      if (this.#stopping?.result === result) this.#stopping = null;
    });
    this.#stopping = { graceMs, result };
    return result;
  }

  async #climb(graceMs: number): Promise<'gone' | 'unkillable'> {
    const { host } = this.#node;
    const { directory, mark } = this.attempt;
    for (const label of ['run', 'setup'] as const) {
      const { start, claim } = await readRecords({ files: host.files, directory, label });
      if (start === null) continue;
      // Whoever has the claim decides: taken here, no shim will ever start the command.
      if (claim === null && (await takeClaim({ files: host.files, directory, label }, start.nonce))) continue;
      const shim = claim !== null && claim !== 'torn' && claim.kind === 'shim' ? claim.shim : null;
      return stopTree({ host, mark, directory, shim, graceMs });
    }
    return 'gone';
  }
}

const fullDiskPauseMs = 1000;

/** Events that are told only after the attempt's whole tree is confirmed gone. */
function leavesNothing(event: TaskEvent): boolean {
  switch (event.kind) {
    case 'JobExited':
    case 'SetupFailed':
    case 'OutputsCollected':
      return true;
    case 'NodeFault':
      return !event.held;
    default:
      return false;
  }
}
