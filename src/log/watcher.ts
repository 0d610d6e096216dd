import { integer } from './columns.ts';
import type { Doorbell } from './doorbell.ts';
import type { LogHost } from './session.ts';
import { type Connection, isBusy } from './sqlite-connection.ts';

/** A missed ring is made good after this long. */
const pollMs = 100;

export interface Watcher {
  watch(listener: () => void): () => void;
  close(): void;
}

/** One look at `data_version`, which changes with others' commits only, on each ring and at least every 100 ms. */
export function createWatcher(
  connection: Connection,
  { host, doorbell }: { host: LogHost; doorbell: Doorbell },
): Watcher {
  const listeners = new Set<() => void>();
  let stop: (() => void) | null = null;
  let version = 0;

  const look = (): void => {
    const now = dataVersionUnlessBusy(connection);
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

/** Busy is rare here (another process recovers the file) and the next look is soon. */
function dataVersionUnlessBusy(connection: Connection): number | null {
  try {
    return dataVersion(connection);
  } catch (error) {
    if (isBusy(error)) return null;
    throw error;
  }
}

function dataVersion(connection: Connection): number {
  const row = connection.get('PRAGMA data_version');
  return row === null ? 0 : integer(row, 'data_version');
}
