import type { Draws } from '../draw.ts';
import type { Plan, TracedJob, Work } from '../plan.ts';

/** One submission that comes. */
export type Arrival =
  | { readonly kind: 'work'; readonly work: Work; readonly ordinal: number }
  | { readonly kind: 'traced'; readonly job: TracedJob };

/** A row of arrivals, of which only the next one is at hand: a workload costs no memory by its length. */
export interface Stream {
  readonly nextMs: number | null;
  readonly take: () => Arrival;
}

export function streamsOf(plan: Plan, draws: Draws): readonly Stream[] {
  const streams: Stream[] = plan.work.map((work, position) => new WorkStream(work, position, plan.untilMs, draws));
  return plan.trace.length === 0 ? streams : [...streams, new TraceStream(plan.trace)];
}

class WorkStream implements Stream {
  nextMs: number | null;
  readonly #work: Work;
  readonly #position: number;
  readonly #draws: Draws;
  readonly #most: number;
  readonly #lastMs: number;
  #taken = 0;

  constructor(work: Work, position: number, untilMs: number | null, draws: Draws) {
    this.#work = work;
    this.#position = position;
    this.#draws = draws;
    this.#most = work.count ?? Number.POSITIVE_INFINITY;
    this.#lastMs = untilMs ?? Number.POSITIVE_INFINITY;
    this.nextMs = this.#unlessOver(work.atMs);
  }

  readonly take = (): Arrival => {
    const ordinal = this.#taken;
    const work = this.#work;
    this.#taken += 1;
    const stepMs = work.every === null ? 0 : this.#draws.spreadMs(work.every, `every.${this.#position}.${ordinal}`);
    this.nextMs = this.#unlessOver((this.nextMs ?? 0) + stepMs);
    return { kind: 'work', work, ordinal };
  };

  #unlessOver(nextMs: number): number | null {
    return this.#taken < this.#most && nextMs <= this.#lastMs ? nextMs : null;
  }
}

class TraceStream implements Stream {
  readonly #jobs: readonly TracedJob[];
  #next = 0;

  constructor(jobs: readonly TracedJob[]) {
    this.#jobs = jobs;
  }

  get nextMs(): number | null {
    return this.#jobs[this.#next]?.atMs ?? null;
  }

  readonly take = (): Arrival => {
    const job = this.#jobs[this.#next];
    if (job === undefined) throw new Error('a trace was read beyond its end');
    this.#next += 1;
    return { kind: 'traced', job };
  };
}
