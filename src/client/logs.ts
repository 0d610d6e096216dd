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
  const reading = beginReading(embedded, { options, resumed, ring: () => box.ring() });
  const unsubscribe = plane.subscribe((batch) => {
    if (batch.facts.some((fact) => 'job' in fact && fact.job === reference.id)) box.ring();
  }, box.close);
  let cancelLook = (): void => {};
  let isLookDue = true;
  try {
    await plane.catchUp();
    await openResumed(reading, reference.id);
    for (;;) {
      const job = await requireJob(embedded, reference.id);
      // Read before the logs are: what ends after this is read once more.
      const isOver = job.outcome !== null;
      const round = { all: isOver || isLookDue, grew: false, absent: false };
      isLookDue = false;
      yield* readTasks(reading, wanted(job, reference.part, options), round);
      if (isOver || options.follow !== true || box.isEnded()) {
        for (const log of reading.open.values()) yield* placed(reading, log.readRest());
        return;
      }
      if (round.grew) continue;
      cancelLook = host.timers.after(round.absent ? lookMs.absent : lookMs.watched, () => {
        isLookDue = true;
        box.ring();
      });
      await box.wait();
      cancelLook();
    }
  } finally {
    cancelLook();
    unsubscribe();
    for (const log of reading.open.values()) log.close();
  }
}

interface Wanted {
  readonly key: TaskKey;
  readonly node: string;
  /** Nothing will be added to its log. */
  readonly isEnded: boolean;
}

function wanted(job: Job, part: number | null, options: LogOptions): readonly Wanted[] {
  const tasks = tasksOf(job, part).map(({ key, task }) => ({ key, node: task.node, isEnded: task.step === 'ended' }));
  if (options.attempt === undefined) return tasks;
  const { attempt } = options;
  const last = Math.max(0, ...tasks.map(({ key }) => key.attempt));
  if (attempt > last)
    throw new RefusalError(refuse('NOT_FOUND', `${job.id} has no attempt ${attempt}: the last one is ${last}`));
  return tasks.map(({ key, node, isEnded }) => ({
    key: { ...key, attempt },
    node,
    isEnded: isEnded || attempt < key.attempt,
  }));
}

/** What is open, what has changed since it was read, and what was read to its end. */
interface Reading {
  readonly embedded: Embedded;
  readonly open: Map<string, TaskLog>;
  readonly changed: Set<string>;
  readonly done: Set<string>;
  readonly places: Map<string, TaskOffsets>;
  readonly options: LogOptions;
  readonly ring: () => void;
}

function beginReading(
  embedded: Embedded,
  given: { options: LogOptions; resumed: PlacedChunk['places'] | null; ring: () => void },
): Reading {
  const { options, resumed, ring } = given;
  return {
    embedded,
    open: new Map(),
    changed: new Set(),
    done: new Set(),
    places: new Map([...(resumed ?? [])].map(([task, offsets]) => [task, new Map(offsets)])),
    options: resumed === null ? options : goingOn(options),
    ring,
  };
}

async function openResumed(reading: Reading, id: string): Promise<void> {
  for (const key of [...reading.places.keys()].flatMap((text) => parseTaskKey(text) ?? [])) {
    if (key.job !== id) throw new RefusalError(refuse('BAD_VALUE', `no place in the log of ${id}`));
    await openLog(reading, key, () => attemptAnywhere(reading.embedded, key));
  }
}

/** Reads what may have grown: of an array most parts have ended or are silent, and cost nothing. */
async function* readTasks(
  reading: Reading,
  tasks: readonly Wanted[],
  round: { readonly all: boolean; grew: boolean; absent: boolean },
): AsyncGenerator<PlacedChunk> {
  const { embedded, open, changed, done } = reading;
  for (const { key, node, isEnded } of tasks) {
    const name = taskKeyText(key);
    if (done.has(name) || (open.has(name) && !round.all && !isEnded && !changed.has(name))) continue;
    const log = await openLog(reading, key, () => attemptDirectory(embedded, node, key));
    round.absent ||= log === null;
    if (log === null) continue;
    changed.delete(name);
    for await (const chunk of placed(reading, isEnded ? log.readRest() : log.readNew())) {
      round.grew = true;
      yield chunk;
    }
    if (!isEnded) continue;
    log.close();
    open.delete(name);
    done.add(name);
  }
}

async function* placed({ places }: Reading, chunks: AsyncIterable<LogChunk>): AsyncGenerator<PlacedChunk> {
  for await (const chunk of chunks) yield { ...chunk, places };
}

/** What began since the place that is gone on from is new as a whole, however few lines were asked for at first. */
function goingOn({ tail, ...options }: LogOptions): LogOptions {
  return tail === undefined ? options : { step: 'run', ...options };
}

/** Null where there is no such log yet, or not any more. */
async function openLog(
  { embedded, open, changed, places, options, ring }: Reading,
  key: TaskKey,
  find: () => Promise<string | null>,
): Promise<TaskLog | null> {
  const name = taskKeyText(key);
  const known = open.get(name);
  if (known !== undefined) return known;
  if ((await find()) === null) return null;
  const offsets: TaskOffsets = places.get(name) ?? new Map();
  places.set(name, offsets);
  const listener = (): void => {
    changed.add(name);
    ring();
  };
  const log = new TaskLog(embedded.host, { key, find, options, listener, offsets });
  open.set(name, log);
  return log;
}
