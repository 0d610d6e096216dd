import { EventQueue } from './event-queue.ts';
import type { Random } from './random.ts';

/** Resolves when every promise that can settle without an event has settled, and all that follows from it. */
export type Drain = () => Promise<void>;

/** More events than this without an end mean that something goes round in circles without time passing. */
const mostEvents = 3_000_000;

/** The one virtual time that all machines share, what is to happen in it, and the trace of what has. */
export class World {
  readonly random: Random;
  readonly trace: string[] = [];
  readonly #queue = new EventQueue();
  readonly #drain: Drain;
  #nowMs = 0;
  #events = 0;

  constructor(random: Random, drain: Drain) {
    this.random = random;
    this.#drain = drain;
  }

  /** Milliseconds since the world began: the truth that no machine's clock need agree with. */
  get nowMs(): number {
    return this.#nowMs;
  }

  get events(): number {
    return this.#events;
  }

  /** Returns a function that takes it back. */
  schedule(delayMs: number, work: () => void): () => void {
    return this.#queue.add(this.#nowMs + Math.max(0, delayMs), work);
  }

  /** Lets time pass; between two events every promise settles that can. Ends early once `isOver` says so. */
  async run(forMs: number, isOver: () => boolean = () => false): Promise<void> {
    const endMs = this.#nowMs + forMs;
    await this.#drain();
    while (!isOver()) {
      const next = this.#queue.take(endMs);
      if (next === null) {
        this.#nowMs = endMs;
        return;
      }
      this.#nowMs = next.atMs;
      this.#events += 1;
      if (this.#events > mostEvents) throw new Error(`after ${mostEvents} events time stands at ${this.#nowMs} ms`);
      next.work();
      await this.#drain();
    }
  }

  /** Adds a line to the trace, by which two runs of a seed are compared and a person reads what happened. */
  note(who: string, what: string): void {
    this.trace.push(`${this.#nowMs.toFixed(3).padStart(12)}  ${who.padEnd(12)} ${what}`);
  }
}

/** Something to look at between events, asked once a second of virtual time only. */
export function everySecond(world: World, isOver: () => boolean): () => boolean {
  let nextMs = world.nowMs;
  return () => {
    if (world.nowMs < nextMs) return false;
    nextMs = world.nowMs + 1000;
    return isOver();
  };
}
