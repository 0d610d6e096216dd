import { type Place, yardPath } from './yard.testsuite.ts';

/** A `yard` in a terminal of 101 columns and 33 rows. */
export interface TerminalRun {
  type(keys: string): void;
  /** As the system does for a command whose terminal is lost. */
  hangUp(): void;
  /** Resolves once what the terminal shows matches; rejects when the command ends without that. */
  shown(pattern: RegExp): Promise<void>;
  readonly ended: Promise<{ readonly code: number; readonly text: string }>;
}

/** The module that makes terminals is optional; null where it has no build for this machine. */
const pty = await import('@lydell/node-pty').catch(() => null);
export const hasTerminals = pty !== null;

export function runInTerminal(place: Place, args: readonly string[]): TerminalRun {
  if (pty === null) throw new Error('nothing here can make a terminal: skip this test by hasTerminals');
  const terminal = pty.spawn(process.execPath, [yardPath, ...args], {
    cols: 101,
    rows: 33,
    cwd: place.directory,
    env: { ...place.environment, TERM: 'xterm' },
  });
  let text = '';
  const listeners = new Set<() => void>();
  terminal.onData((part) => {
    text += part;
    for (const listener of listeners) listener();
  });
  const ended = new Promise<{ code: number; text: string }>((resolve) => {
    terminal.onExit(({ exitCode }) => resolve({ code: exitCode, text }));
  });
  return {
    type: (keys) => terminal.write(keys),
    hangUp: () => terminal.kill('SIGHUP'),
    shown: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (!pattern.test(text)) return;
          listeners.delete(look);
          resolve();
        };
        listeners.add(look);
        ended.then(() => reject(new Error(`it ended without ${pattern}:\n${text}`)), reject);
        look();
      }),
    ended,
  };
}
