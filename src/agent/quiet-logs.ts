import type { Host } from '../host/host.ts';

/** A file, and how many bytes it held when it was looked at last; 0 for one that was absent. */
export interface SeenLog {
  readonly path: string;
  readonly sizeBytes: number;
}

/** Logs of a node that do not grow. All are looked at together: one wake-up for many commands that print nothing. */
export interface QuietLogs {
  /**
   * Resolves some two seconds after one of these has grown, or at once when the signal aborts. What goes wrong with the
   * look resolves as well: whoever waits then looks itself.
   */
  untilGrown(logs: readonly SeenLog[], signal: AbortSignal): Promise<void>;
}

const beatMs = 2000;

interface Waiting {
  readonly logs: readonly SeenLog[];
  readonly wake: () => void;
}

export function createQuietLogs({ files, clock, timers }: Pick<Host, 'files' | 'clock' | 'timers'>): QuietLogs {
  const waiting = new Set<Waiting>();
  let cancel: (() => void) | null = null;

  const plan = (): void => {
    if (waiting.size === 0) {
      // A timer would keep a program from its end.
      cancel?.();
      cancel = null;
      return;
    }
    cancel ??= timers.after(beatMs - (clock.bootMs() % beatMs), () => {
      cancel = null;
      void look([...waiting]).finally(plan);
    });
  };
  const look = async (asked: readonly Waiting[]): Promise<void> => {
    const paths = asked.flatMap(({ logs }) => logs.map(({ path }) => path));
    const stats = await files.lstatMany(paths).catch(() => null);
    const sizes = new Map(stats?.map((stat, index) => [paths[index], stat?.sizeBytes ?? 0]));
    for (const { logs, wake } of asked) {
      if (logs.some(({ path, sizeBytes }) => sizes.get(path) !== sizeBytes)) wake();
    }
  };

  return {
    untilGrown: (logs, signal) =>
      new Promise((resolve) => {
        const wake = (): void => {
          waiting.delete(own);
          signal.removeEventListener('abort', wake);
          plan();
          resolve();
        };
        const own: Waiting = { logs, wake };
        waiting.add(own);
        if (signal.aborted) wake();
        else signal.addEventListener('abort', wake, { once: true });
        plan();
      }),
  };
}
