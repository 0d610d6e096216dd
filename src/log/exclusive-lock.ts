import { sleep } from '../host/clock.ts';
import { type BusyHost, longestPauseMs } from './busy.ts';
import { type Connection, isBusy, openConnection } from './sqlite-connection.ts';

/**
 * A lock that is held until it is released or its process ends, in whatever way: the kernel frees it then.
 * Keep the object: once nothing refers to it, its connection may be closed at any time.
 */
export interface ExclusiveLock {
  release(): void;
}

/** Two that try at the same moment can both be turned away, so being turned away once means nothing. */
const tries = 5;

/**
 * Takes the lock that the small SQLite file at `path` stands for; null when another process (or another holder in this
 * one) has it. Nothing else may open that file, since closing any descriptor of it frees the lock.
 */
export async function takeExclusiveLock(path: string, host: BusyHost): Promise<ExclusiveLock | null> {
  const connection = openConnection(path);
  for (let tried = 0; tried < tries; tried += 1) {
    if (beginUnlessBusy(connection)) return { release: () => connection.close() };
    await sleep(host.timers, host.chance.fraction() * longestPauseMs);
  }
  connection.close();
  return null;
}

function beginUnlessBusy(connection: Connection): boolean {
  try {
    connection.script('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if (isBusy(error)) return false;
    connection.close();
    throw error;
  }
}
