import { hasPending, type Job, type JobId } from '../job/job.ts';
import { secretNames } from '../secrets/secret.ts';
import { ShapeQueue } from './shape-queue.ts';

/** Jobs with elements to place, grouped by what they need: a pass costs by shapes, not by jobs. */
export class PendingQueue {
  readonly #shapes = new Map<string, ShapeQueue>();
  readonly #shapeOf = new Map<JobId, string>();
  /** How many there are of each project; replicas come by rule and do not count. */
  readonly #counts = new Map<string, number>();

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

  /** Jobs of a project that wait, replicas of services left out. */
  countOf(project: string): number {
    return this.#counts.get(project) ?? 0;
  }

  #add(job: Job): void {
    const shape = shapeKey(job);
    this.#shapeOf.set(job.id, shape);
    this.#count(job, 1);
    const jobs = this.#shapes.get(shape) ?? new ShapeQueue();
    jobs.add(job);
    this.#shapes.set(shape, jobs);
  }

  #remove(job: Job, shape: string): void {
    this.#shapeOf.delete(job.id);
    this.#count(job, -1);
    const jobs = this.#shapes.get(shape);
    jobs?.remove(job);
    if (jobs?.size === 0) this.#shapes.delete(shape);
  }

  #count({ project, service }: Job, change: 1 | -1): void {
    if (service !== null) return;
    const count = this.countOf(project) + change;
    if (count === 0) this.#counts.delete(project);
    else this.#counts.set(project, count);
  }
}

/**
 * Replicas that keep apart see other nodes than the rest of the world does: each service and spread is a shape of its
 * own. So is work with secrets, which only some nodes can open, and that of each project, which its quota may hold up.
 */
function shapeKey({ settings, service, spec, project }: Job): string {
  const apart = service !== null && settings.spread !== 'none' ? [service.name, settings.spread] : null;
  return JSON.stringify([settings.nodes, settings.resources, project, apart, secretNames(spec)]);
}
