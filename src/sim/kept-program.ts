import type { Cluster } from './cluster.ts';
import { type Life, startLife } from './life.ts';
import type { Machine } from './machine.ts';

/** A program, and whoever keeps it running: one life at a time, and another whenever it is gone. */
export abstract class KeptProgram {
  readonly name: string;
  readonly machine: Machine;
  protected readonly cluster: Cluster;
  readonly #role: Life['role'];
  #life: Life | null = null;
  #close: (() => Promise<void>) | null = null;

  constructor(cluster: Cluster, options: { readonly name: string; readonly machine: Machine; role: Life['role'] }) {
    this.cluster = cluster;
    this.name = options.name;
    this.machine = options.machine;
    this.#role = options.role;
  }

  get life(): Life | null {
    return this.#life;
  }

  /** Nobody starts it again for good; nobody but a dismissed agent is such. */
  get isRetired(): boolean {
    return false;
  }

  start(): void {
    if (this.#life !== null || !this.machine.isUp || this.isRetired) return;
    const { name, machine } = this;
    const main = (life: Life): Promise<void> => this.serve(life);
    this.#life = startLife(this.cluster, { name, role: this.#role, machine, main, onEnd: () => this.#ended() });
  }

  /** Ends it in good order, once it can be. */
  close(): void {
    const [life, close] = [this.#life, this.#close];
    if (life === null || close === null) return;
    this.cluster.world.note(this.name, 'is asked to end');
    this.#close = null;
    this.closing();
    close().then(() => life.incarnation.kill(), life.fail);
  }

  /** What the program does. It may go on for ever; when it rejects, the program has failed. */
  protected abstract serve(life: Life): Promise<void>;

  /** How long until it is started again, in milliseconds. */
  protected abstract pauseMs(): number;

  /** From now on this ends it in good order. */
  protected closeBy(close: () => Promise<void>): void {
    this.#close = close;
  }

  /** Whatever it offered is gone with it. */
  protected gone(): void {}

  /** It is asked to end. */
  protected closing(): void {}

  #ended(): void {
    this.#life = null;
    this.#close = null;
    this.gone();
    this.cluster.world.schedule(this.pauseMs(), () => this.start());
  }
}
