import type { Job } from '../job/job.ts';

/** Room that is left behind before the list is moved up. */
const mostGone = 1024;

/**
 * Jobs with the same needs in the order in which they are placed: higher priority, then earlier submission.
 * Jobs leave at the front almost always, so that costs nothing, however many wait.
 */
export class ShapeQueue implements Iterable<Job> {
  readonly #jobs: (Job | undefined)[] = [];
  /** Everything before it has left. */
  #first = 0;

  get size(): number {
    return this.#jobs.length - this.#first;
  }

  add(job: Job): void {
    const last = this.#jobs.at(-1);
    if (this.size === 0 || last === undefined || comesBefore(last, job)) this.#jobs.push(job);
    else this.#jobs.splice(this.#positionOf(job), 0, job);
  }

  remove(job: Job): void {
    const position = this.#positionOf(job);
    if (this.#jobs[position]?.id !== job.id) return;
    if (position > this.#first) {
      this.#jobs.splice(position, 1);
      return;
    }
    this.#jobs[position] = undefined;
    this.#first += 1;
    if (this.#first < mostGone || this.#first * 2 < this.#jobs.length) return;
    this.#jobs.splice(0, this.#first);
    this.#first = 0;
  }

  *[Symbol.iterator](): Iterator<Job> {
    for (let position = this.#first; position < this.#jobs.length; position += 1) {
      const job = this.#jobs[position];
      if (job !== undefined) yield job;
    }
  }

  /** Where it stands, or would stand; the order is total. */
  #positionOf(job: Job): number {
    let from = this.#first;
    let to = this.#jobs.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      const at = this.#jobs[middle];
      if (at !== undefined && comesBefore(at, job)) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}

/** True when `a` is placed before `b`. */
export function comesBefore(a: Job, b: Job): boolean {
  return a.settings.priority === b.settings.priority ? a.order < b.order : a.settings.priority > b.settings.priority;
}
