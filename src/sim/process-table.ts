import type { Signal } from '../host/processes.ts';
import type { World } from './world.ts';

/** What a process is, to those who check that nobody else's is touched. */
export type Role = 'agent' | 'client' | 'server' | 'shim' | 'command' | 'child' | 'helper' | 'bystander';

export interface NewProcess {
  readonly role: Role;
  readonly parent: VirtualProcess | null;
  /** True leads a session and a group of its own. */
  readonly leads: boolean;
  /** RUNYARD_MARK in its environment; null without. */
  readonly mark: string | null;
  /** Directory of the logs that it holds open; null when none. */
  readonly logsIn: string | null;
  /** It is given the orphans among its descendants. */
  readonly reaps?: boolean;
  /** Told of each signal that reaches it; SIGKILL ends it whatever this does. */
  readonly onSignal?: (signal: Signal) => void;
  /** Told when it ends, with the signal that ended it, or null when it ended by itself. */
  readonly onEnd?: (signal: Signal | null) => void;
}

export interface VirtualProcess extends NewProcess {
  readonly pid: number;
  readonly startTicks: number;
  readonly sessionId: number;
  readonly groupId: number;
  parentPid: number;
  alive: boolean;
  /** Until then (world time) SIGKILL does not end it, as when it waits for a broken device. */
  unkillableUntilMs: number;
  /** SIGKILL has reached it and ends it as soon as anything can. */
  isDoomed: boolean;
}

const firstPid = 100;

/** The processes of one machine in one boot. Pids are handed out in a circle and come again. */
export class ProcessTable {
  readonly #world: World;
  readonly #ticks: () => number;
  readonly #pids: number;
  readonly #live = new Map<number, VirtualProcess>();
  /** When each pid was last given away: not twice within a tick, as no kernel is that fast. */
  readonly #lastTicks = new Map<number, number>();
  #next = firstPid;

  constructor(world: World, options: { readonly ticks: () => number; readonly pids: number }) {
    this.#world = world;
    this.#ticks = options.ticks;
    this.#pids = options.pids;
  }

  processes(): readonly VirtualProcess[] {
    return [...this.#live.values()];
  }

  has(isMeant: (process: VirtualProcess) => boolean): boolean {
    for (const process of this.#live.values()) if (isMeant(process)) return true;
    return false;
  }

  get(pid: number): VirtualProcess | null {
    return this.#live.get(pid) ?? null;
  }

  start(given: NewProcess): VirtualProcess {
    const pid = this.#freePid();
    const startTicks = this.#ticks();
    const { parent } = given;
    const process: VirtualProcess = {
      ...given,
      pid,
      startTicks,
      sessionId: given.leads || parent === null ? pid : parent.sessionId,
      groupId: given.leads || parent === null ? pid : parent.groupId,
      parentPid: parent?.pid ?? 1,
      alive: true,
      unkillableUntilMs: 0,
      isDoomed: false,
    };
    this.#live.set(pid, process);
    this.#lastTicks.set(pid, startTicks);
    return process;
  }

  /** It ends by itself (null) or by a signal; what it leaves behind goes to the nearest reaper above it, or to the first process. */
  end(process: VirtualProcess, signal: Signal | null): void {
    if (!process.alive) return;
    process.alive = false;
    this.#live.delete(process.pid);
    const heir = this.#reaperOf(process);
    for (const other of this.#live.values()) if (other.parentPid === process.pid) other.parentPid = heir;
    process.onEnd?.(signal);
  }

  signal(process: VirtualProcess, signal: Signal): void {
    if (!process.alive) return;
    process.onSignal?.(signal);
    if (signal !== 'SIGKILL') return;
    if (process.isDoomed) return;
    const waitMs = process.unkillableUntilMs - this.#world.nowMs;
    process.isDoomed = waitMs > 0;
    if (process.isDoomed) this.#world.schedule(waitMs, () => this.end(process, 'SIGKILL'));
    else this.end(process, 'SIGKILL');
  }

  /** What it waited for is there: a SIGKILL that came before ends it now. */
  release(process: VirtualProcess): void {
    process.unkillableUntilMs = 0;
    if (process.isDoomed) this.end(process, 'SIGKILL');
  }

  /** The power goes: all of them are gone, and none is told. */
  vanish(): readonly VirtualProcess[] {
    const gone = this.processes();
    for (const process of gone) process.alive = false;
    this.#live.clear();
    return gone;
  }

  hasChildren(process: VirtualProcess): boolean {
    return this.has((other) => other.parentPid === process.pid);
  }

  #reaperOf(process: VirtualProcess): number {
    const above = this.#live.get(process.parentPid);
    if (above === undefined) return 1;
    return above.reaps ? above.pid : this.#reaperOf(above);
  }

  /** As in a kernel, a number stays taken while a process, a group or a session goes by it. */
  #isUsed(pid: number): boolean {
    if (this.#live.has(pid)) return true;
    return this.has((one) => one.groupId === pid || one.sessionId === pid);
  }

  #freePid(): number {
    const ticks = this.#ticks();
    for (let tried = 0; tried < this.#pids; tried += 1) {
      const pid = this.#next;
      this.#next = pid + 1 < firstPid + this.#pids ? pid + 1 : firstPid;
      if (!this.#isUsed(pid) && (this.#lastTicks.get(pid) ?? -1) < ticks) return pid;
    }
    throw new Error(`the machine is out of process ids: ${this.#live.size} are alive`);
  }
}
