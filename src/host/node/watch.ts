import { type FSWatcher, lstatSync, watch } from 'node:fs';
import { isAbsent, toHostError } from './system-error.ts';

/** Between two looks at a path of which the kernel tells nothing. */
const deafPollMs = 100;
/** How long a path may be left to the kernel's events alone. */
const trustedPollMs = 1000;

/**
 * Calls back on changes at a path or directly below it. The kernel's events come at once; where there are none (a path
 * that does not exist yet, a file replaced by a rename, no watches left) a look every 100 ms takes their place, and
 * each second one beside them.
 */
export function watchPath(path: string, listener: () => void): () => void {
  let watcher: FSWatcher | null = null;
  let seen = fingerprint(path);

  const disarm = (): void => {
    watcher?.close();
    watcher = null;
    // The next look is due soon, whatever was planned while the kernel told of it.
    if (watches.has(own)) replan();
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
  const look = (): void => {
    if (watcher === null) arm();
    const now = fingerprint(path);
    if (now === seen) return;
    seen = now;
    listener();
  };

  const own: Watch = { look, isDeaf: () => watcher === null };
  arm();
  watches.add(own);
  replan();
  return () => {
    watches.delete(own);
    disarm();
    replan();
  };
}

interface Watch {
  readonly look: () => void;
  /** The kernel tells nothing of it at present. */
  readonly isDeaf: () => boolean;
}

const watches = new Set<Watch>();
let ticker: { readonly handle: NodeJS.Timeout; readonly pauseMs: number } | null = null;
/** Time since everything was looked at. */
let trustedForMs = 0;

/** One timer for all watches: an idle process wakes up once a second, however much it watches. */
function replan(): void {
  const pauseMs = pauseNow();
  if (pauseMs === (ticker?.pauseMs ?? null)) return;
  if (ticker !== null) clearInterval(ticker.handle);
  ticker = pauseMs === null ? null : { handle: setInterval(tick, pauseMs), pauseMs };
}

function pauseNow(): number | null {
  if (watches.size === 0) return null;
  return [...watches].some((one) => one.isDeaf()) ? deafPollMs : trustedPollMs;
}

function tick(): void {
  trustedForMs += ticker?.pauseMs ?? 0;
  const isAllDue = trustedForMs >= trustedPollMs;
  if (isAllDue) trustedForMs = 0;
  for (const one of watches) if (isAllDue || one.isDeaf()) one.look();
  replan();
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
