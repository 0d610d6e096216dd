import { type TaskKey, taskKeyText } from '../core/job/job.ts';
import type { Files } from '../host/files.ts';

/**
 * One attempt's place on the disk. Everything the agent knows of it is here, so that the next agent knows as much:
 *
 *     attempts/<job>.<index>.<rank>.<attempt>/   while it is alive; ended/… afterwards
 *       port        what was taken for it, where it asked for one
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

export function attemptOf(nodeDirectory: string, node: string, key: TaskKey): Attempt {
  const name = taskKeyText(key);
  const directory = `${nodeDirectory}/attempts/${name}`;
  return { key, name, directory, workdir: `${directory}/work`, mark: `${node}/${name}` };
}

export function endedDirectory(nodeDirectory: string, name: string): string {
  return `${nodeDirectory}/ended/${name}`;
}

/** Makes the attempt's directory. False when it is there already: an agent has begun with the attempt before. */
export async function createAttempt(files: Files, attempt: Attempt): Promise<boolean> {
  const isNew = await files.createDirectory(attempt.directory, { mode: 0o700 });
  // Asked for either way: that agent may have died between the two.
  await files.createDirectory(attempt.workdir, { mode: 0o700 });
  return isNew;
}

/** The port that an agent took for the attempt; null when none was. */
export async function readPort(files: Files, attempt: Attempt): Promise<number | null> {
  const bytes = await files.read(`${attempt.directory}/port`);
  return bytes === null ? null : Number(new TextDecoder().decode(bytes));
}

/** Kept before anything can use it: the next agent must not give it to another task. */
export async function writePort(files: Files, attempt: Attempt, port: number): Promise<void> {
  await files.writeAtomic(`${attempt.directory}/port`, new TextEncoder().encode(String(port)), { mode: 0o600 });
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
