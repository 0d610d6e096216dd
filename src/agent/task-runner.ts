import type { TaskEvent } from '../core/job/facts.ts';
import type { TaskKey } from '../core/job/job.ts';
import type { Order } from '../core/node/orders.ts';
import { secretVariables } from '../core/secrets/secret.ts';
import { sleep } from '../host/clock.ts';
import { HostError } from '../host/files.ts';
import { settleOwner } from './adopt.ts';
import { type Attempt, attemptOf, createAttempt, readPort, writePort } from './attempt.ts';
import { endCompany, hadCompany } from './company.ts';
import { readStartRecord } from './records.ts';
import { forgetSecrets } from './secrets/kept-secrets.ts';
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
  #isOpen = false;
  #isNew = false;
  readonly #begun = new Set<Order['step']>();

  constructor(node: NodeContext, key: TaskKey, report: (event: TaskEvent) => void) {
    this.#node = node;
    this.#report = report;
    this.attempt = attemptOf(node.directory, node.node, key);
  }

  get port(): number | null {
    return this.#port;
  }

  /** What stands for it now. */
  get order(): Order | null {
    return this.#order;
  }

  /** True once nothing of its process tree is left, and nothing more will start. */
  get isGone(): boolean {
    return this.#gone;
  }

  setOrder(order: Order): void {
    const stepChanged = order.step !== this.#order?.step;
    this.#order = order;
    if (stepChanged) this.#abort?.abort('another step');
    else if (order.stop !== null && this.#stopping !== null) void this.#stop(order.stop.graceMs);
    this.#wake();
  }

  /** Lets go of everything; processes run on. */
  close(): void {
    this.#closed = true;
    this.#abort?.abort('another step');
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
      if (leavesNothing(event)) {
        this.#gone = true;
        await this.#takeSecretsBack(order);
      }
      // Whoever is told that the task has ended finds its logs whole.
      if (this.#node.logs !== null && mayEndTask(event)) await this.#node.logs.flush(this.attempt);
      this.#report(event);
    }
  }

  async #takeSecretsBack({ task }: Order): Promise<void> {
    if (secretVariables(task.spec.env).length === 0) return;
    await this.#node.secretFiles.remove(this.attempt.name);
    await forgetSecrets(this.#node.host.files, this.attempt);
  }

  /** Ends the whole tree, whatever the orders say. */
  fence(graceMs = 0): Promise<'gone' | 'unkillable'> {
    return this.#stop(graceMs);
  }

  /**
   * A full disk holds up this attempt and nothing else: with room again the step is begun anew. Outputs need no room
   * for a start, and those of this attempt may be what fills the disk.
   */
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
      await sleep(host.timers, order.step === 'collect' ? collectAgainMs : fullDiskPauseMs, abort.signal);
      if (order.step !== 'collect') await diskGuard.waitForRoom(abort.signal);
      return null;
    }
  }

  async #perform(order: Order, abort: AbortController): Promise<TaskEvent | null> {
    if (!(await this.#openAttempt(order))) {
      return { kind: 'NodeFault', message: 'the records of the attempt are gone from the node', held: false };
    }
    const isFresh = this.#isNew && !this.#begun.has(order.step);
    this.#begun.add(order.step);
    const context: TaskContext = {
      ...this.#node,
      attempt: this.attempt,
      order,
      boxes: () => (this.#order ?? order).task.boxes,
      port: this.#port,
      isFresh,
      signal: abort.signal,
      tell: this.#report,
      movePort: () => this.#movePort(),
      stop: (graceMs) => this.#stop(graceMs),
    };
    const event = abort.signal.aborted ? null : await work[order.step](context);
    return event !== null && leavesNothing(event) ? endCompany(context, event) : event;
  }

  /** The attempt's directory and port, made before anything is done for it; false when they were there once and are no more. */
  async #openAttempt(order: Order): Promise<boolean> {
    const { host, ports } = this.#node;
    if (this.#isOpen) return true;
    this.#isNew = await createAttempt(host.files, this.attempt);
    this.#node.logs?.open(this.attempt, this.#isNew);
    if (this.#isNew && order.begun) return false;
    const { port: wanted, nodes } = order.task.settings;
    const known = this.#isNew ? null : await readPort(host.files, this.attempt);
    if (known !== null) ports.hold(known);
    this.#port ??= known;
    if (known === null && (wanted || nodes > 1)) {
      // One that a full disk kept from being written down is used again.
      this.#port ??= await ports.take();
      await writePort(host.files, this.attempt, this.#port);
    }
    this.#isOpen = true;
    return true;
  }

  async #movePort(): Promise<number> {
    const { host, ports } = this.#node;
    const port = await ports.take();
    await writePort(host.files, this.attempt, port);
    if (this.#port !== null) ports.release(this.#port);
    this.#port = port;
    return port;
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
      const place = { files: host.files, directory, label };
      const start = await readStartRecord(place);
      if (start === null) continue;
      const owner = await settleOwner(host, place, start.nonce);
      if (owner.kind === 'agent') continue;
      return stopTree({ host, mark, directory, shim: owner.kind === 'shim' ? owner.shim : null, graceMs });
    }
    if (await hadCompany(host.files, this.attempt)) return stopTree({ host, mark, directory, shim: null, graceMs });
    return 'gone';
  }
}

const fullDiskPauseMs = 1000;
const collectAgainMs = 5000;

function mayEndTask(event: TaskEvent): boolean {
  return leavesNothing(event) || event.kind === 'NodeFault';
}

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
