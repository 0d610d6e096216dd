import type { Fact } from '../fact.ts';
import type { Allocation } from '../job/facts.ts';
import { elementCount, indexAt, type Job } from '../job/job.ts';
import { type FreeCapacity, freeCapacity, type Node } from '../node/node.ts';
import { isHeld, type State } from '../state.ts';
import { fitOnNode, isAllocation } from './fit.ts';
import { comesBefore } from './pending-queue.ts';

type Placed = Extract<Fact, { kind: 'AttemptPlaced' }>;

/**
 * Places pending elements: best job first, each shape until it fits nowhere any more (G7).
 * Pure: it returns facts for the caller to fold, at most `limit` of them; what is left is placed in the next step.
 */
export function place(state: State, nowMs: number, limit: number): readonly Placed[] {
  const facts: Placed[] = [];
  const pool = new Pool(state);
  const shapes = [...state.derived.pending.shapes()].map((jobs) => new Candidates(state, jobs, nowMs));
  while (facts.length < limit) {
    const best = bestOf(shapes);
    if (best === null) break;
    const allocations = pool.take(best.job);
    if (allocations === null) {
      best.candidates.close();
      continue;
    }
    facts.push({
      kind: 'AttemptPlaced',
      job: best.job.id,
      index: best.index,
      attempt: best.attempt,
      tasks: allocations,
    });
    best.candidates.advance();
  }
  return facts;
}

function bestOf(
  shapes: readonly Candidates[],
): { candidates: Candidates; job: Job; index: number; attempt: number } | null {
  let best: { candidates: Candidates; job: Job; index: number; attempt: number } | null = null;
  for (const candidates of shapes) {
    const head = candidates.head();
    if (head !== null && (best === null || comesBefore(head.job, best.job))) best = { candidates, ...head };
  }
  return best;
}

/** The elements of one shape's jobs that may be placed now, in order. */
class Candidates {
  readonly #state: State;
  readonly #jobs: readonly Job[];
  readonly #nowMs: number;
  #position = 0;
  #queue: { index: number; attempt: number }[] | null = null;
  #next = 0;

  constructor(state: State, jobs: readonly Job[], nowMs: number) {
    this.#state = state;
    this.#jobs = jobs;
    this.#nowMs = nowMs;
  }

  head(): { job: Job; index: number; attempt: number } | null {
    for (;;) {
      const job = this.#jobs[this.#position];
      if (job === undefined) return null;
      this.#queue ??= placeable(this.#state, job, this.#nowMs);
      const element = this.#queue[this.#next];
      if (element !== undefined) return { job, ...element };
      this.#position += 1;
      this.#queue = null;
      this.#next = 0;
    }
  }

  advance(): void {
    this.#next += 1;
  }

  close(): void {
    this.#position = this.#jobs.length;
  }
}

/** A pass never places more of one job than a node could start before the next pass. */
const mostPerJob = 1024;

function placeable(state: State, job: Job, nowMs: number): { index: number; attempt: number }[] {
  const room = Math.min(mostPerJob, (job.settings.array?.maxRunning ?? Number.POSITIVE_INFINITY) - job.live);
  const found: { index: number; attempt: number }[] = [];
  for (const index of job.requeued) {
    if (found.length >= room) return found;
    const element = job.elements.get(index);
    if (element?.kind === 'pending' && element.notBeforeMs <= nowMs && !waitsForRelease(state, job, index))
      found.push({ index, attempt: element.attempt + 1 });
  }
  const count = elementCount(job);
  for (let position = job.cursor; position < count && found.length < room; position += 1) {
    const index = indexAt(job, position);
    if (!job.elements.has(index)) found.push({ index, attempt: 1 });
  }
  return found;
}

/** A job that must never run twice waits until nothing of the attempt before is left (`onNodeLoss: wait`). */
export function waitsForRelease(state: State, job: Job, index: number): boolean {
  return job.settings.onNodeLoss === 'wait' && isHeld(state.derived.held, `${job.id}.${index}.`);
}

/** What is free on every node, less what this pass has given away. */
class Pool {
  readonly #nodes: readonly Node[];
  readonly #free = new Map<string, FreeCapacity>();

  constructor(state: State) {
    this.#nodes = [...state.nodes.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Allocations for each rank on distinct nodes, or null when they do not fit together. */
  take(job: Job): readonly Allocation[] | null {
    const { nodes, resources } = job.settings;
    const chosen: { allocation: Allocation; node: Node; score: number }[] = [];
    for (const node of this.#nodes) {
      const free = this.#freeOn(node);
      const fit = fitOnNode(node, resources, free);
      if (isAllocation(fit)) chosen.push({ allocation: fit, node, score: score(node, free) });
    }
    if (chosen.length < nodes) return null;
    chosen.sort((a, b) => a.score - b.score || (a.node.name < b.node.name ? -1 : 1));
    const taken = chosen.slice(0, nodes);
    for (const { allocation, node } of taken) this.#subtract(node, allocation);
    return taken.map(({ allocation }) => allocation);
  }

  #freeOn(node: Node): FreeCapacity {
    let free = this.#free.get(node.name);
    if (free === undefined) {
      free = freeCapacity(node);
      this.#free.set(node.name, free);
    }
    return free;
  }

  #subtract(node: Node, allocation: Allocation): void {
    const free = this.#freeOn(node);
    this.#free.set(node.name, {
      cpus: free.cpus - allocation.cpus,
      memoryMiB: free.memoryMiB - allocation.memoryMiB,
      gpus:
        allocation.devices.length === 0 ? free.gpus : free.gpus.filter((gpu) => !allocation.devices.includes(gpu.uuid)),
    });
  }
}

/** Fullest node first, GPUs counting most, so that whole nodes stay free for work that needs them. */
function score(node: Node, free: FreeCapacity): number {
  return free.gpus.length * 1000 + (free.cpus / Math.max(1, node.capacity.cpus)) * 100;
}
