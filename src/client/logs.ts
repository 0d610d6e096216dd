import type { Job, TaskKey } from '../core/job/job.ts';
import { parseTaskKey, taskKeyText } from '../core/job/job.ts';
import { refuse } from '../core/refusal.ts';
import type { LogChunk, LogOptions } from './api.ts';
import type { Embedded } from './embedded.ts';
import { requireJob } from './job-handle.ts';
import { RefusalError } from './refusal-error.ts';
import { createSignalBox } from './signal-box.ts';
import { TaskLog, type TaskOffsets } from './task-log.ts';
import { attemptAnywhere, attemptDirectory, tasksOf } from './task-place.ts';

/** A piece of a job's log, and how far each of its tasks has been read behind it, by task. Good until the next piece. */
export interface PlacedChunk extends LogChunk {
  readonly places: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

/** Longest time that a log stays unseen that was not there before, and something written where the file system tells nothing. */
const lookMs = { absent: 100, watched: 500 } as const;

/**
 * The output of a job's tasks as it was written, and with `follow` as it is written, to the end of the job.
 * What was written is complete: the last read of a task's log comes after its end was known.
 */
export async function* followLogs(
  embedded: Embedded,
  reference: { readonly id: string; readonly part: number | null },
  options: LogOptions,
  resumed: PlacedChunk['places'] | null = null,
): AsyncGenerator<PlacedChunk> {
  const { plane, host } = embedded;
  const box = createSignalBox(options.signal);
  const open = new Map<string, TaskLog>();
  const places = new Map([...(resumed ?? [])].map(([task, offsets]) => [task, new Map(offsets)]));
  const own = resumed === null ? options : goingOn(options);
  const unsubscribe = plane.subscribe((batch) => {
    if (batch.facts.some((fact) => 'job' in fact && fact.job === reference.id)) box.ring();
  });
  let cancelLook = (): void => {};
  try {
    await plane.catchUp();
    const ring = (): void => box.ring();
    const reading = { embedded, open, places, options: own, listener: ring };
    for (const key of [...places.keys()].flatMap((text) => parseTaskKey(text) ?? [])) {
      if (key.job !== reference.id)
        throw new RefusalError(refuse('BAD_VALUE', `no place in the log of ${reference.id}`));
      await openLog(reading, key, () => attemptAnywhere(embedded, key));
    }
    for (;;) {
      const job = await requireJob(embedded, reference.id);
      // Read before the logs are: what ends after this is read once more.
      const isOver = job.outcome !== null;
      let grew = false;
      let absent = false;
      for (const { key, node } of wanted(job, reference.part, options)) {
        const log = await openLog(reading, key, () => attemptDirectory(embedded, node, key));
        absent ||= log === null;
        if (log === null) continue;
        for await (const chunk of log.readNew()) {
          grew = true;
          yield { ...chunk, places };
        }
      }
      if (isOver || options.follow !== true || box.isEnded()) {
        for (const log of open.values()) for await (const chunk of log.readRest()) yield { ...chunk, places };
        return;
      }
      if (grew) continue;
      cancelLook = host.timers.after(absent ? lookMs.absent : lookMs.watched, () => box.ring());
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

/** What began since the place that is gone on from is new as a whole, however few lines were asked for at first. */
function goingOn({ tail, ...options }: LogOptions): LogOptions {
  return tail === undefined ? options : { step: 'run', ...options };
}

interface Reading {
  readonly embedded: Embedded;
  readonly open: Map<string, TaskLog>;
  readonly places: Map<string, TaskOffsets>;
  readonly options: LogOptions;
  readonly listener: () => void;
}

/** Null where there is no such log yet, or not any more. */
async function openLog(
  { embedded, open, places, options, listener }: Reading,
  key: TaskKey,
  find: () => Promise<string | null>,
): Promise<TaskLog | null> {
  const name = taskKeyText(key);
  const known = open.get(name);
  if (known !== undefined) return known;
  if ((await find()) === null) return null;
  const offsets: TaskOffsets = places.get(name) ?? new Map();
  places.set(name, offsets);
  const log = new TaskLog(embedded.host, { key, find, options, listener, offsets });
  open.set(name, log);
  return log;
}
