import { integer } from './columns.ts';
import type { Doorbell } from './doorbell.ts';
import type { LogHost } from './session.ts';
import { type Connection, isBusy } from './sqlite-connection.ts';

/** A missed ring is made good after this long: that of a process which died between its commit and the ring. */
const pollMs = 1000;

export interface Watcher {
  watch(listener: () => void): () => void;
  close(): void;
}

/** One look at `data_version`, which changes with others' commits only, on each ring and at least every second. */
export function createWatcher(
  connection: Connection,
  { host, doorbell }: { host: LogHost; doorbell: Doorbell },
): Watcher {
  const listeners = new Set<() => void>();
  let stop: (() => void) | null = null;
  let version: number | null = null;

  const look = (): void => {
    const now = dataVersion(connection);
    if (now === null || now === version) return;
    version = now;
    for (const listener of [...listeners]) listener();
  };
  const start = (): (() => void) => {
    version = dataVersion(connection);
    const endWatch = doorbell.watch(look);
    let cancel = (): void => {};
    const poll = (): void => {
      cancel = host.timers.after(pollMs, poll);
      look();
    };
    cancel = host.timers.after(pollMs, poll);
    return () => {
      endWatch();
      cancel();
    };
  };
  const end = (): void => {
    stop?.();
    stop = null;
  };
  return {
    watch: (listener) => {
      const entry = (): void => listener();
      listeners.add(entry);
      stop ??= start();
      return () => {
        listeners.delete(entry);
        if (listeners.size === 0) end();
      };
    },
    close: () => {
      listeners.clear();
      end();
    },
  };
}

/** Null when the file is busy, which is rare here (another process recovers it): the next look is soon. */
function dataVersion(connection: Connection): number | null {
  try {
    const row = connection.get('PRAGMA data_version');
    return row === null ? null : integer(row, 'data_version');
  } catch (error) {
    if (isBusy(error)) return null;
    throw error;
  }
}
