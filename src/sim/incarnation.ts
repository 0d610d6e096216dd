import type { World } from './world.ts';

/** Whatever lets time pass for a program: the world, or a machine that may sleep. */
export type Schedule = Pick<World, 'schedule'>;

/**
 * One life of one program. Everything that the program asks of the outside goes through here, and once it is dead none
 * of it is ever answered: what a crash leaves pending stays pending.
 */
export class Incarnation {
  readonly name: string;
  readonly #time: Schedule;
  readonly #onDeath: (() => void)[] = [];
  #alive = true;
  #calls = 0;
  #crash: { readonly atCall: number; readonly moment: 'before' | 'after' } | null = null;

  constructor(time: Schedule, name: string) {
    this.#time = time;
    this.name = name;
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** A call to the outside: has its effect `delayMs` from now, and is answered then. */
  call<T>(delayMs: number, effect: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#time.schedule(delayMs, () => {
        if (!this.#alive || this.#crashesAt('before')) return;
        let answer: () => void;
        try {
          const result = effect();
          answer = () => resolve(result);
        } catch (error) {
          answer = () => reject(error);
        }
        if (this.#alive && !this.#crashesAt('after')) answer();
      });
    });
  }

  /** Runs `work` later, unless the program is dead by then. */
  after(delayMs: number, work: () => void): () => void {
    return this.#time.schedule(delayMs, () => {
      if (this.#alive) work();
    });
  }

  /** Kills it at the n-th of its calls from now: just before that call has its effect, or just before it is answered. */
  crashAtCall(calls: number, moment: 'before' | 'after'): void {
    this.#crash = { atCall: this.#calls + calls, moment };
  }

  /** Takes back a crash that is still to come. */
  spare(): void {
    this.#crash = null;
  }

  kill(): void {
    if (!this.#alive) return;
    this.#alive = false;
    for (const tell of this.#onDeath.splice(0)) tell();
  }

  onDeath(tell: () => void): void {
    this.#onDeath.push(tell);
  }

  #crashesAt(moment: 'before' | 'after'): boolean {
    if (moment === 'before') this.#calls += 1;
    if (this.#crash === null || this.#crash.moment !== moment || this.#calls < this.#crash.atCall) return false;
    this.kill();
    return true;
  }
}
