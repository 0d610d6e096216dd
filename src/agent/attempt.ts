import { type TaskKey, taskKeyText } from '../core/job/job.ts';
import type { TaskOrder } from '../core/node/orders.ts';
import type { Files } from '../host/files.ts';

/**
 * One attempt's place on the disk. Everything the agent knows of it is here, so that the next agent knows as much:
 *
 *     attempts/<job>.<index>.<rank>.<attempt>/   while it is alive; ended/… afterwards
 *       task.json   the order, as it was taken
 *       work/       the task's work directory and outputs root
 *       setup.* run.*   records and logs
 */
export interface Attempt {
  readonly key: TaskKey;
  readonly name: string;
  readonly directory: string;
  readonly workdir: string;
  /** By which its processes are found. */
  readonly mark: string;
}

/** What is kept beside the order. */
export interface AttemptJournal {
  readonly task: TaskOrder;
  readonly port: number | null;
}

export function attemptOf(nodeDirectory: string, node: string, key: TaskKey): Attempt {
  const name = taskKeyText(key);
  const directory = `${nodeDirectory}/attempts/${name}`;
  return { key, name, directory, workdir: `${directory}/work`, mark: `${node}/${name}` };
}

export function endedDirectory(nodeDirectory: string, name: string): string {
  return `${nodeDirectory}/ended/${name}`;
}

export async function readJournal(files: Files, attempt: Attempt): Promise<AttemptJournal | null> {
  const bytes = await files.read(`${attempt.directory}/task.json`);
  return bytes === null ? null : (JSON.parse(new TextDecoder().decode(bytes)) as AttemptJournal);
}

export async function writeJournal(files: Files, attempt: Attempt, journal: AttemptJournal): Promise<void> {
  await files.makeDirectory(attempt.directory, { mode: 0o700 });
  const bytes = new TextEncoder().encode(JSON.stringify(journal));
  await files.writeAtomic(`${attempt.directory}/task.json`, bytes, { mode: 0o600 });
}

/** How often agents may begin a step of an attempt before it is taken to be what ends them (C31). */
const mostBeginnings = 5;

/**
 * Counts that a step begins, before it does anything: a step that ends the agent each time is found out by the next.
 * False when it has begun too often.
 */
export async function countBeginning(files: Files, attempt: Attempt, step: string): Promise<boolean> {
  const path = `${attempt.directory}/${step}.begun`;
  const sizeBytes = (await files.stat(path))?.sizeBytes ?? 0;
  if (sizeBytes >= mostBeginnings) return false;
  await files.append(path, new TextEncoder().encode('x'));
  return true;
}
