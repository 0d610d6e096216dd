import { hasPending, type Job, type JobId } from '../job/job.ts';
import { ShapeQueue } from './shape-queue.ts';

/** Jobs with elements to place, grouped by what they need: a pass costs by shapes, not by jobs. */
export class PendingQueue {
  readonly #shapes = new Map<string, ShapeQueue>();
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
  shapes(): IterableIterator<Iterable<Job>> {
    return this.#shapes.values();
  }

  get size(): number {
    return this.#shapeOf.size;
  }

  #add(job: Job): void {
    const shape = shapeKey(job);
    this.#shapeOf.set(job.id, shape);
    const jobs = this.#shapes.get(shape) ?? new ShapeQueue();
    jobs.add(job);
    this.#shapes.set(shape, jobs);
  }

  #remove(job: Job, shape: string): void {
    this.#shapeOf.delete(job.id);
    const jobs = this.#shapes.get(shape);
    jobs?.remove(job);
    if (jobs?.size === 0) this.#shapes.delete(shape);
  }
}

/** Replicas that keep apart see other nodes than the rest of the world does: each service and spread is a shape of its own. */
function shapeKey({ settings, service }: Job): string {
  const apart = service !== null && settings.spread !== 'none' ? [service.name, settings.spread] : null;
  return JSON.stringify([settings.nodes, settings.resources, apart]);
}
