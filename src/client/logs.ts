import type { Job, TaskKey } from '../core/job/job.ts';
import { taskKeyText } from '../core/job/job.ts';
import { refuse } from '../core/refusal.ts';
import type { LogChunk, LogOptions } from './api.ts';
import type { Embedded } from './embedded.ts';
import { requireJob } from './job-handle.ts';
import { RefusalError } from './refusal-error.ts';
import { createSignalBox } from './signal-box.ts';
import { TaskLog } from './task-log.ts';
import { attemptDirectory, tasksOf } from './task-place.ts';

/** Longest time that something written stays unseen, where the file system tells nothing. */
const lookMs = 100;

/**
 * The output of a job's tasks as it was written, and with `follow` as it is written, to the end of the job.
 * What was written is complete: the last read of a task's log comes after its end was known.
 */
export async function* followLogs(
  embedded: Embedded,
  reference: { readonly id: string; readonly part: number | null },
  options: LogOptions,
): AsyncGenerator<LogChunk> {
  const { plane, host } = embedded;
  const box = createSignalBox(options.signal);
  const open = new Map<string, TaskLog>();
  const unsubscribe = plane.subscribe((batch) => {
    if (batch.facts.some((fact) => 'job' in fact && fact.job === reference.id)) box.ring();
  });
  let cancelLook = (): void => {};
  try {
    await plane.catchUp();
    for (;;) {
      const job = await requireJob(embedded, reference.id);
      // Read before the logs are: what ends after this is read once more.
      const isOver = job.outcome !== null;
      let grew = false;
      for (const { key, node } of wanted(job, reference.part, options)) {
        const log = await openLog(embedded, open, { key, node, options, listener: () => box.ring() });
        if (log === null) continue;
        for await (const chunk of log.readNew()) {
          grew = true;
          yield chunk;
        }
      }
      if (isOver || options.follow !== true || box.isEnded()) {
        for (const log of open.values()) yield* log.readRest();
        return;
      }
      if (grew) continue;
      cancelLook = host.timers.after(lookMs, () => box.ring());
      await box.wait();
      cancelLook();
    }
  } finally {
    cancelLook();
    unsubscribe();
    for (const log of open.values()) log.close();
  }
}

function wanted(job: Job, part: number | null, options: LogOptions): readonly { key: TaskKey; node: string }[] {
  const tasks = tasksOf(job, part).map(({ key, task }) => ({ key, node: task.node }));
  if (options.attempt === undefined) return tasks;
  const { attempt } = options;
  const last = Math.max(0, ...tasks.map(({ key }) => key.attempt));
  if (attempt > last)
    throw new RefusalError(refuse('NOT_FOUND', `${job.id} has no attempt ${attempt}: the last one is ${last}`));
  return tasks.map(({ key, node }) => ({ key: { ...key, attempt }, node }));
}

async function openLog(
  embedded: Embedded,
  open: Map<string, TaskLog>,
  { key, node, options, listener }: { key: TaskKey; node: string; options: LogOptions; listener: () => void },
): Promise<TaskLog | null> {
  const name = taskKeyText(key);
  const known = open.get(name);
  if (known !== undefined) return known;
  if ((await attemptDirectory(embedded, node, key)) === null) return null;
  const find = (): Promise<string | null> => attemptDirectory(embedded, node, key);
  const log = new TaskLog(embedded.host, { key, find, options, listener });
  open.set(name, log);
  return log;
}
