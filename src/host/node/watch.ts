import { type FSWatcher, lstatSync, watch } from 'node:fs';
import { isAbsent, toHostError } from './system-error.ts';

const pollMs = 100;

/**
 * Calls back on changes at a path or directly below it. The kernel's events come at once; a look every 100 ms catches
 * what they miss: a path that does not exist yet, a file replaced by a rename, a file system without events.
 */
export function watchPath(path: string, listener: () => void): () => void {
  let watcher: FSWatcher | null = null;
  let seen = fingerprint(path);

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
      // Without events (absent path, no watches left) the poll below is the watch.
      watcher = null;
    }
  };
  const poll = setInterval(() => {
    if (watcher === null) arm();
    const now = fingerprint(path);
    if (now === seen) return;
    seen = now;
    listener();
  }, pollMs);

  arm();
  return () => {
    clearInterval(poll);
    disarm();
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
