import { Disk } from './disk.ts';
import { ProcessTable, type VirtualProcess } from './process-table.ts';
import type { PortAnswer } from './serving.ts';
import type { World } from './world.ts';

export interface MachineOptions {
  readonly name: string;
  /** How many different process ids there are: few make them come again soon. */
  readonly pids: number;
  /** How far its wall clock is off at first, in milliseconds. */
  readonly skewMs: number;
  /** Its shims are given the orphans of their commands, and so know when nothing is left. */
  readonly shimReaps: boolean;
  /** Its file system keeps changes of names in order. */
  readonly hasJournal: boolean;
}

/** A process that listens on a port, and what it answers now. */
export interface Listener {
  readonly process: VirtualProcess;
  readonly answer: () => PortAnswer;
}

const startOfTimeMs = Date.UTC(2026, 0, 1);

/** One machine: its clocks, its disk, its processes, and the ports that strangers hold. */
export class Machine {
  readonly name: string;
  readonly disk: Disk;
  readonly world: World;
  readonly shimReaps: boolean;
  readonly #pids: number;
  #boots = 1;
  #bootedAtMs: number;
  #table: ProcessTable;
  #isUp = true;
  #asleepUntilMs = 0;
  readonly #overslept: (() => void)[] = [];
  /** Ports at or above `from` and below `to` belong to somebody else. */
  squatted = { from: 0, to: 0 };
  /** Ports on which a task listens, and who does. */
  readonly listening = new Map<number, Listener>();
  skewMs: number;
  /** How much longer than usual the disk takes. */
  slowness = 1;

  constructor(world: World, { name, pids, skewMs, shimReaps, hasJournal }: MachineOptions) {
    this.world = world;
    this.name = name;
    this.skewMs = skewMs;
    this.shimReaps = shimReaps;
    this.#pids = pids;
    this.#bootedAtMs = world.nowMs - 100_000;
    this.disk = new Disk({ wallMs: () => this.wallMs(), hasJournal });
    this.#table = this.#newTable();
  }

  get table(): ProcessTable {
    return this.#table;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  wallMs(): number {
    return startOfTimeMs + this.world.nowMs + this.skewMs;
  }

  bootMs(): number {
    return this.world.nowMs - this.#bootedAtMs;
  }

  /** Nobody listens on the port, and no stranger holds it. */
  isPortFree(port: number): boolean {
    return (port < this.squatted.from || port >= this.squatted.to) && !this.listening.has(port);
  }

  bootId(): string {
    return `${this.name}-boot-${this.#boots}`;
  }

  /** True while it is suspended: its clock of boot time runs on, and nothing else on it does. */
  get sleeps(): boolean {
    return this.world.nowMs < this.#asleepUntilMs;
  }

  /** It is suspended for so long. */
  sleep(forMs: number): void {
    this.#asleepUntilMs = Math.max(this.#asleepUntilMs, this.world.nowMs + forMs);
    this.world.schedule(forMs, () => {
      if (!this.sleeps) this.wake();
    });
  }

  /** It goes on now. */
  wake(): void {
    this.#asleepUntilMs = this.world.nowMs;
    for (const work of this.#overslept.splice(0)) this.world.schedule(0, work);
  }

  /** At once, or as soon as it wakes. */
  whenAwake(work: () => void): void {
    if (this.sleeps) this.#overslept.push(work);
    else work();
  }

  /** As the world's, for what happens on this machine: what comes due while it sleeps happens as it wakes, in order. */
  schedule(delayMs: number, work: () => void): () => void {
    let isOff = false;
    const due = (): void => {
      if (isOff) return;
      if (this.sleeps) this.#overslept.push(due);
      else work();
    };
    const cancel = this.world.schedule(delayMs, due);
    return () => {
      isOff = true;
      cancel();
    };
  }

  /** Everything on it stops at once. Returns the processes that were alive. */
  goDown(): readonly VirtualProcess[] {
    this.#isUp = false;
    this.#asleepUntilMs = 0;
    this.listening.clear();
    return this.#table.vanish();
  }

  comeUp(): void {
    this.#boots += 1;
    this.#bootedAtMs = this.world.nowMs - 10_000;
    this.#table = this.#newTable();
    this.#isUp = true;
  }

  #newTable(): ProcessTable {
    return new ProcessTable(this.world, { ticks: () => Math.floor(this.bootMs() / 10), pids: this.#pids });
  }
}
