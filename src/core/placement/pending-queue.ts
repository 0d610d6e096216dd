import { hasPending, type Job, type JobId } from '../job/job.ts';
import type { Settings } from '../profile/settings.ts';

/** Jobs with elements to place, grouped by what they need: a pass costs by shapes, not by jobs. */
export class PendingQueue {
  readonly #shapes = new Map<string, Job[]>();
  readonly #shapeOf = new Map<JobId, string>();

  /** Brings the job in or takes it out, as its state says. */
  update(job: Job): void {
    const known = this.#shapeOf.get(job.id);
    const wanted = hasPending(job);
    if (wanted === (known !== undefined)) return;
    if (wanted) this.#add(job);
    else if (known !== undefined) this.#remove(job, known);
  }

  /** Each shape's jobs, best first: higher priority, then earlier submission. */
  shapes(): IterableIterator<readonly Job[]> {
    return this.#shapes.values();
  }

  get size(): number {
    return this.#shapeOf.size;
  }

  #add(job: Job): void {
    const shape = shapeKey(job.settings);
    this.#shapeOf.set(job.id, shape);
    const jobs = this.#shapes.get(shape);
    if (jobs === undefined) {
      this.#shapes.set(shape, [job]);
      return;
    }
    let position = jobs.length;
    while (position > 0 && comesBefore(job, jobs[position - 1])) position -= 1;
    jobs.splice(position, 0, job);
  }

  #remove(job: Job, shape: string): void {
    this.#shapeOf.delete(job.id);
    const jobs = this.#shapes.get(shape) ?? [];
    const position = jobs[0]?.id === job.id ? 0 : jobs.findIndex((one) => one.id === job.id);
    if (position >= 0) jobs.splice(position, 1);
    if (jobs.length === 0) this.#shapes.delete(shape);
  }
}

/** True when `a` is placed before `b`. */
export function comesBefore(a: Job, b: Job | undefined): boolean {
  if (b === undefined) return false;
  return a.settings.priority === b.settings.priority ? a.order < b.order : a.settings.priority > b.settings.priority;
}

function shapeKey(settings: Settings): string {
  return JSON.stringify([settings.nodes, settings.resources]);
}
