import { QuotaRoom } from '../access/quota.ts';
import type { Fact } from '../fact.ts';
import type { Allocation } from '../job/facts.ts';
import { elementCount, indexAt, type Job } from '../job/job.ts';
import { isHeld, type State } from '../state.ts';
import { Pool } from './pool.ts';
import type { Ranking } from './ranking.ts';
import { comesBefore } from './shape-queue.ts';

type Placed = Extract<Fact, { kind: 'AttemptPlaced' }>;

/**
 * Places pending elements: best job first, each shape until it fits nowhere any more (G7).
 * Pure: it returns facts for the caller to fold, at most `limit` of them; what is left is placed in the next step.
 */
export function place(state: State, nowMs: number, limit: number): readonly Placed[] {
  const facts: Placed[] = [];
  const shapes = [...state.derived.pending.shapes()].map((jobs) => new Candidates(state, jobs, nowMs));
  if (shapes.length === 0) return facts;
  const pool = new Pool(state);
  const room = new QuotaRoom(state);
  while (facts.length < limit) {
    const best = bestOf(shapes);
    if (best === null) break;
    const { candidates, job, index, attempt } = best;
    const tasks = candidates.take(job, pool, room);
    if (tasks === null) {
      candidates.close();
      continue;
    }
    facts.push({ kind: 'AttemptPlaced', job: job.id, index, attempt, tasks });
    candidates.advance();
  }
  pool.close();
  return facts;
}

interface Candidate {
  readonly job: Job;
  readonly index: number;
  readonly attempt: number;
}

function bestOf(shapes: readonly Candidates[]): (Candidate & { readonly candidates: Candidates }) | null {
  let best: Candidate | null = null;
  let from: Candidates | null = null;
  for (const candidates of shapes) {
    const head = candidates.head();
    if (head === null || (best !== null && !comesBefore(head.job, best.job))) continue;
    best = head;
    from = candidates;
  }
  return best === null || from === null ? null : { ...best, candidates: from };
}

/** The elements of one shape's jobs that may be placed now, in order. */
class Candidates {
  readonly #state: State;
  readonly #rest: Iterator<Candidate>;
  #head: Candidate | null | undefined;
  #ranking: Ranking | null = null;

  constructor(state: State, jobs: Iterable<Job>, nowMs: number) {
    this.#state = state;
    this.#rest = placeable(state, jobs, nowMs);
  }

  head(): Candidate | null {
    if (this.#head === undefined) {
      const next = this.#rest.next();
      this.#head = next.done === true ? null : next.value;
    }
    return this.#head;
  }

  advance(): void {
    this.#head = undefined;
  }

  close(): void {
    this.#head = null;
  }

  /** Jobs of one shape need the same and are of one project: what fits one fits all. */
  take(job: Job, pool: Pool, room: QuotaRoom): readonly Allocation[] | null {
    this.#ranking ??= this.#state.derived.rankings.of(this.#state, job);
    return this.#ranking.take(pool, job.settings.nodes, (allocations) => room.take(job.project, allocations));
  }
}

function* placeable(state: State, jobs: Iterable<Job>, nowMs: number): Generator<Candidate, void> {
  for (const job of jobs) {
    let room = (job.settings.array?.maxRunning ?? Number.POSITIVE_INFINITY) - job.live;
    for (const candidate of elementsOf(state, job, nowMs)) {
      if (room <= 0) break;
      yield candidate;
      room -= 1;
    }
  }
}

/** What waits for another attempt first, then what was never touched. */
function* elementsOf(state: State, job: Job, nowMs: number): Generator<Candidate, void> {
  for (const index of job.requeued) {
    const element = job.elements.get(index);
    if (element?.kind !== 'pending' || element.notBeforeMs > nowMs || waitsForRelease(state, job, index)) continue;
    yield { job, index, attempt: element.attempt + 1 };
  }
  const count = elementCount(job);
  for (let position = job.cursor; position < count; position += 1) {
    const index = indexAt(job, position);
    if (!job.elements.has(index)) yield { job, index, attempt: 1 };
  }
}

/** A job that must never run twice waits until nothing of the attempt before is left (`onNodeLoss: wait`). */
export function waitsForRelease(state: State, job: Job, index: number): boolean {
  const element = job.elements.get(index);
  const isAsked = element?.kind === 'pending' && element.retryAsked;
  return job.settings.onNodeLoss === 'wait' && !isAsked && isHeld(state.derived.held, `${job.id}.${index}.`);
}

/** The node that is away and must confirm that nothing of the attempt before is left; null when none must. */
export function awaitedRelease(state: State, job: Job, index: number): string | null {
  if (!waitsForRelease(state, job, index)) return null;
  for (const { name, presence, allocations } of state.nodes.values()) {
    if (presence.kind === 'up') continue;
    for (const [task, { held }] of allocations) if (held && task.startsWith(`${job.id}.${index}.`)) return name;
  }
  return null;
}
