import type { Element, Job, Task, TaskKey } from '../core/job/job.ts';
import { taskKeyText } from '../core/job/job.ts';
import { refuse } from '../core/refusal.ts';
import type { Embedded } from './embedded.ts';
import { RefusalError } from './refusal-error.ts';

/** One task of a job, with the element it belongs to. */
export interface PlacedTask {
  readonly key: TaskKey;
  readonly task: Task;
  readonly element: Element;
}

/** The tasks that a reference means, of their latest attempts: all, or those of one index or rank. */
export function tasksOf(job: Job, part: number | null): readonly PlacedTask[] {
  const found: PlacedTask[] = [];
  const several = job.settings.array !== null;
  for (const [index, element] of [...job.elements].sort(([a], [b]) => a - b)) {
    if (part !== null && several && index !== part) continue;
    for (const task of element.tasks) {
      if (part !== null && !several && task.rank !== part) continue;
      found.push({ key: { job: job.id, index, rank: task.rank, attempt: element.attempt }, task, element });
    }
  }
  return found;
}

/** Exactly one task; refused when the reference means several or none. */
export function oneTask(job: Job, part: number | null): PlacedTask {
  const tasks = tasksOf(job, part);
  const [task] = tasks;
  if (task === undefined)
    throw new RefusalError(
      refuse('WRONG_STATE', `${job.id} has not been placed on a node yet`, { hint: `yard explain ${job.id}` }),
    );
  if (tasks.length > 1)
    throw new RefusalError(
      refuse('AMBIGUOUS', `${job.id} has ${tasks.length} tasks`, { hint: `name one: ${job.id}/0` }),
    );
  return task;
}

/** Where the node's agent keeps an attempt: among the living, or put aside; null when it has been pruned. */
export async function attemptDirectory({ home, host }: Embedded, node: string, key: TaskKey): Promise<string | null> {
  for (const shelf of ['attempts', 'ended']) {
    const directory = `${home}/nodes/${node}/${shelf}/${taskKeyText(key)}`;
    if ((await host.files.stat(directory)) !== null) return directory;
  }
  return null;
}

/** The same where the node is not known any more: of an attempt before the latest. */
export async function attemptAnywhere(embedded: Embedded, key: TaskKey): Promise<string | null> {
  for (const { name } of (await embedded.host.files.list(`${embedded.home}/nodes`)) ?? []) {
    const directory = await attemptDirectory(embedded, name, key);
    if (directory !== null) return directory;
  }
  return null;
}
