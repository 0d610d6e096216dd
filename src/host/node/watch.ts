import { type FSWatcher, lstatSync, watch } from 'node:fs';
import { isAbsent, toHostError } from './system-error.ts';

const pollMs = 100;
/** How many polls a path may be left to the kernel's events alone. */
const trustedPolls = 10;

/**
 * Calls back on changes at a path or directly below it. The kernel's events come at once; where there are none (a path
 * that does not exist yet, a file replaced by a rename, no watches left) a look every 100 ms takes their place, and
 * now and then one beside them.
 */
export function watchPath(path: string, listener: () => void): () => void {
  let watcher: FSWatcher | null = null;
  let seen = fingerprint(path);
  let polls = 0;

  const disarm = (): void => {
    watcher?.close();
    watcher = null;
  };
  const arm = (): void => {
    try {
      watcher = watch(path, (event) => {
        // After a rename the kernel still watches the old file.
        if (event === 'rename') disarm();
        seen = fingerprint(path);
        listener();
      });
      watcher.on('error', disarm);
    } catch {
      // Without events (absent path, no watches left) the poll is the watch.
      watcher = null;
    }
  };
  const poll = (): void => {
    polls += 1;
    if (watcher !== null && polls % trustedPolls !== 0) return;
    if (watcher === null) arm();
    const now = fingerprint(path);
    if (now === seen) return;
    seen = now;
    listener();
  };

  arm();
  const unsubscribe = onTick(poll);
  return () => {
    unsubscribe();
    disarm();
  };
}

const polls = new Set<() => void>();
let ticker: NodeJS.Timeout | null = null;

/** One timer for all watches: an idle process wakes up once, however much it watches. */
function onTick(poll: () => void): () => void {
  polls.add(poll);
  ticker ??= setInterval(() => {
    for (const one of polls) one();
  }, pollMs);
  return () => {
    polls.delete(poll);
    if (polls.size > 0 || ticker === null) return;
    clearInterval(ticker);
    ticker = null;
  };
}

function fingerprint(path: string): string {
  try {
    const stats = lstatSync(path);
    return `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`;
  } catch (error) {
    if (isAbsent(error)) return '';
    throw toHostError(error, path);
  }
}
