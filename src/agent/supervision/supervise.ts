import type { TaskEvent } from '../../core/job/facts.ts';
import { exitOutcome } from '../../core/reason.ts';
import { freshHealth, type Probes } from '../../core/supervision/probe.ts';
import { decideRestart, type RestartHistory, type RunEnd } from '../../core/supervision/restart.ts';
import { sleep } from '../../host/clock.ts';
import { HostError } from '../../host/files.ts';
import { environmentOf } from '../environment.ts';
import { type ProcessEnd, runProcess, unkillable } from '../process-step.ts';
import { clearRecords, type RecordPlace, readExitRecord, readStartRecord, tidyStart } from '../records.ts';
import type { StepWork, TaskContext } from '../task-context.ts';
import { probeMark } from './ask-probe.ts';
import { whyItCannotStart } from './cannot-start.ts';
import { eventOf, rebooted } from './endings.ts';
import { hasEnded } from './has-ended.ts';
import { firstState, openSupervisionJournal, type Supervision, type SupervisionJournal } from './journal.ts';
import { linked } from './linked-signal.ts';
import { probesOf } from './probes-of.ts';
import { watchRun } from './run-watch.ts';

/**
 * Keeps a command running as its policy says: run, end, decide, wait, run again; under the same attempt, in the same
 * work directory, with the same devices and port. Neither workspace nor setup is repeated.
 *
 * The journal says which start has been dealt with before anything of it is cleared away, so that the next agent
 * counts each end once and goes on with the same counters, delay and verdict.
 */
export const supervise: StepWork = async (context) => {
  const supervisor = new Supervisor(context);
  return (await supervisor.open()) ?? supervisor.drive();
};

type Ended = Extract<ProcessEnd, { kind: 'ended' }>;

class Supervisor {
  readonly #context: TaskContext;
  readonly #place: RecordPlace;
  readonly #probes: Probes;
  readonly #journal: SupervisionJournal;
  #state: Supervision;
  #port: number | null;
  #lastingFolder: string | null = null;
  /** No records of the next run can exist. */
  #isFresh: boolean;
  /** The next run was started by an agent before. */
  #isAdopting = false;
  #isOtherBoot = false;
  #hasStarted = false;
  /** Of the start of the run that is under way; empty where this agent did not see it start. */
  #nonce = '';
  #saving: Promise<void> = Promise.resolve();
  /** The ladder that ends a run which is not alive. */
  #ending: Promise<'gone' | 'unkillable'> = Promise.resolve('gone');
  #onHeld: (end: ProcessEnd) => void = () => {};
  /** To be told once the next run has been started, so that telling does not hold it up. */
  #untold: TaskEvent | null = null;

  constructor(context: TaskContext) {
    const { host, attempt, order } = context;
    this.#context = context;
    this.#place = { files: host.files, directory: attempt.directory, label: 'run' };
    this.#journal = openSupervisionJournal(host.files, attempt);
    this.#port = order.task.settings.port ? context.port : null;
    this.#probes = probesOf(order.task.settings, this.#port);
    this.#isFresh = context.isFresh;
    this.#state = firstState(this.#probes);
  }

  /** Takes over what an agent before left; an event when that cannot be gone on with. */
  async open(): Promise<TaskEvent | null> {
    const { host, attempt, order, setupShelf } = this.#context;
    this.#lastingFolder = await setupShelf.folderFor(order.task, attempt.workdir);
    if (this.#isFresh) return null;
    this.#state = (await this.#journal.read()) ?? this.#state;
    const start = await readStartRecord(this.#place);
    this.#isAdopting = start !== null && start.nonce !== this.#state.dealtWith;
    this.#isOtherBoot = start !== null && start.bootId !== host.clock.bootId();
    for (const kind of ['startup', 'liveness', 'readiness'] as const) {
      if (this.#probes[kind]?.ask.kind !== 'command') continue;
      await host.processes.killTree({ mark: probeMark(attempt.mark, kind), directory: '/nowhere', leader: null }, null);
    }
    if (start !== null && !this.#isAdopting) {
      if (this.#isOtherBoot) return rebooted;
      await clearRecords(this.#place);
      await tidyStart(this.#place, start.nonce);
    }
    const { history, lastFailure } = this.#state;
    // The agent before may have died before it could tell; told twice it changes nothing.
    if (lastFailure !== null) this.#context.tell({ kind: 'Restarted', restarts: history.restarts, lastFailure });
    return null;
  }

  async drive(): Promise<TaskEvent | null> {
    const { signal } = this.#context;
    for (;;) {
      await this.#waitForTurn();
      if (!this.#isAdopting && !signal.aborted) await this.#findPort();
      if (signal.aborted) return null;
      const end = await this.#runOnce();
      if (end === null) return null;
      const event = end.kind === 'ended' ? await this.#afterEnd(end) : eventOf(end);
      if (event !== null || signal.aborted) return event;
    }
  }

  async #waitForTurn(): Promise<void> {
    const { host, signal } = this.#context;
    for (;;) {
      const leftMs = this.#state.notBeforeMs - host.clock.bootMs();
      if (leftMs <= 0 || signal.aborted || this.#isAdopting) return;
      await sleep(host.timers, leftMs, signal);
    }
  }

  /** Another port, where a stranger took the task's own. Peers know a rank's port, so that it keeps it. */
  async #findPort(): Promise<void> {
    if (this.#port === null || this.#context.order.task.settings.nodes > 1) return;
    while (!(await this.#context.host.network.isPortFree(this.#port))) this.#port = await this.#context.movePort();
  }

  async #runOnce(): Promise<ProcessEnd | null> {
    const { attempt, order, environment } = this.#context;
    // A signal of its own for each run: listeners on the attempt's would add up with every restart.
    const [signal, unlink] = linked(this.#context.signal);
    const context = { ...this.#context, port: this.#port, isFresh: this.#isFresh, signal };
    const { task } = order;
    const lastingFolder = this.#lastingFolder;
    const env = environmentOf({ attempt, task, port: this.#port, lastingFolder, agent: environment });
    let endWatch = (): void => {};
    this.#nonce = '';
    const tellAnyway = this.#context.host.timers.after(latestTellMs, () => this.#tellUntold());
    try {
      const end = await new Promise<ProcessEnd | null>((resolve, reject) => {
        const onStarted = (nonce: string): void => {
          this.#nonce = nonce;
          endWatch();
          endWatch = this.#watch(env, reject);
        };
        runProcess(context, 'run', env, onStarted).then(resolve, reject);
        this.#onHeld = resolve;
      });
      // A ladder that still looks for what is left would take the next run for a part of this one.
      const left = end === null ? 'gone' : await this.#ending;
      return left === 'gone' ? end : unkillable;
    } finally {
      tellAnyway();
      endWatch();
      unlink();
      this.#isFresh = true;
      this.#isAdopting = false;
    }
  }

  /** Called when the run has begun, or was found running. */
  #watch(env: Readonly<Record<string, string>>, fail: (error: unknown) => void): () => void {
    const { host, tell } = this.#context;
    if (!this.#hasStarted) tell({ kind: 'JobStarted', port: this.#port });
    this.#hasStarted = true;
    this.#tellUntold();
    if (this.#state.dealtWith !== null) tidyStart(this.#place, this.#state.dealtWith).catch(fail);
    if (this.#state.startedMs === null) this.#change({ startedMs: host.clock.bootMs() }, true);
    return watchRun({
      context: this.#context,
      probes: this.#probes,
      port: this.#port,
      env,
      state: () => this.#state,
      change: (change, keep) => this.#change(change, keep),
      onDead: () => void this.#endRun().catch(fail),
      onFault: fail,
    });
  }

  /** Ends a run that is not alive; its end is then seen as any other is, unless it has none. */
  async #endRun(): Promise<void> {
    const { host, stop, order, signal } = this.#context;
    if (await hasEnded(host, this.#place, signal))
      return this.#change({ health: { ...this.#state.health, dead: null } }, true);
    this.#ending = stop(order.task.settings.graceMs);
    if ((await this.#ending) === 'unkillable') this.#onHeld(unkillable);
  }

  /** Null when it is to run again. */
  async #afterEnd(end: Ended): Promise<TaskEvent | null> {
    const { host, attempt, order } = this.#context;
    const { history, health, isOpen } = this.#state;
    const { restart } = order.task.settings;
    const runEnd = await this.#describe(end);
    const nowMs = host.clock.bootMs();
    if (runEnd.kind === 'failure' && restart.policy !== 'never' && !isOpen && (await this.#lostItsPort())) {
      const portMoves = this.#state.portMoves + 1;
      return this.#goOn({ history, delayMs: 0, lastFailure: this.#state.lastFailure, portMoves });
    }
    const decision = decideRestart(restart, history, runEnd, { nowMs, seed: attempt.name });
    switch (decision.kind) {
      case 'end':
        return { kind: 'JobExited', exitCode: end.exitCode, signal: end.signal, detail: health.dead ?? end.detail };
      case 'give-up':
        return { kind: 'GaveUp', message: decision.message };
      case 'restart':
        return this.#goOn({ ...decision, lastFailure: runEnd.message, portMoves: 0 });
    }
  }

  async #describe(end: Ended): Promise<RunEnd> {
    const { host, attempt, order } = this.#context;
    const { health, readySinceMs } = this.#state;
    const message = health.dead ?? exitOutcome(end).message;
    // How long it was ready counts up to its end, which may be long ago when no agent was there to see it.
    const sinceMs = this.#hasStarted || readySinceMs === null ? readySinceMs : await this.#shiftToNow(readySinceMs);
    if (health.dead !== null) return { kind: 'failure', stableSinceMs: null, message };
    if (end.exitCode === 0) return { kind: 'success', stableSinceMs: sinceMs, message };
    const why = await whyItCannotStart(host.files, attempt, { exitCode: end.exitCode, script: order.task.spec.run });
    if (why !== null) return { kind: 'permanent', stableSinceMs: null, message: why };
    return { kind: 'failure', stableSinceMs: sinceMs, message };
  }

  /** Moves a time forward by as much as the end lies back. */
  async #shiftToNow(sinceMs: number): Promise<number> {
    const { clock } = this.#context.host;
    const exit = await readExitRecord(this.#place);
    const agoMs = exit === null ? 0 : Math.max(0, clock.wallMs() - exit.atMs);
    return Math.min(sinceMs + agoMs, clock.bootMs());
  }

  /** A stranger holds the port: no failure of the command's own, unless it goes on and on. */
  async #lostItsPort(): Promise<boolean> {
    if (this.#port === null || this.#context.order.task.settings.nodes > 1) return false;
    return this.#state.portMoves < mostPortMoves && !(await this.#context.host.network.isPortFree(this.#port));
  }

  /** Journals that this end has been dealt with, then clears its records away; in this order. */
  async #goOn(next: {
    readonly history: RestartHistory;
    readonly delayMs: number;
    readonly lastFailure: string | null;
    readonly portMoves: number;
  }): Promise<TaskEvent | null> {
    const { host, signal } = this.#context;
    if (this.#isOtherBoot) return rebooted;
    const nonce = this.#nonce === '' ? (await readStartRecord(this.#place))?.nonce : this.#nonce;
    const { history, lastFailure, portMoves, delayMs } = next;
    const run = this.#state.run + 1;
    this.#change(
      {
        ...firstState(this.#probes),
        run,
        health: freshHealth(run, this.#probes),
        history,
        lastFailure,
        portMoves,
        dealtWith: nonce ?? null,
        notBeforeMs: host.clock.bootMs() + delayMs,
      },
      false,
    );
    await this.#saveSurely();
    if (signal.aborted) return null;
    await clearRecords(this.#place);
    if (lastFailure !== null) this.#untold = { kind: 'Restarted', restarts: history.restarts, lastFailure };
    if (delayMs > 0) this.#tellUntold();
    return null;
  }

  #tellUntold(): void {
    if (this.#untold !== null) this.#context.tell(this.#untold);
    this.#untold = null;
  }

  #change(change: Partial<Supervision>, keep: boolean): void {
    this.#state = { ...this.#state, ...change };
    if (!keep) return;
    this.#saving = this.#saving
      .then(() => this.#journal.write(this.#state))
      .catch((error: unknown) => {
        // Without room the verdict is kept in memory alone: the next agent then asks anew, which harms nothing.
        if (!(error instanceof HostError)) throw error;
      });
  }

  /** Waits for room, as a start does: without the journal nothing may be cleared away. */
  async #saveSurely(): Promise<void> {
    const { host, diskGuard, signal } = this.#context;
    await this.#saving;
    while (!signal.aborted) {
      try {
        return await this.#journal.write(this.#state);
      } catch (error) {
        if (!(error instanceof HostError)) throw error;
        await diskGuard.giveUpBallast();
        await sleep(host.timers, 1000, signal);
      }
    }
  }
}

const mostPortMoves = 3;

/** A start that takes longer, for want of room on the disk, must not leave a replica ready that is none. */
const latestTellMs = 50;
