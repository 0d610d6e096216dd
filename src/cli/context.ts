import type { RunyardClient } from '../client/api.ts';
import type { ServerAddress } from '../client/remote/outgoing.ts';
import type { Output } from './output/output.ts';

/** What every command gets: the ways out and in, none of them global. */
export interface Context {
  readonly output: Output;
  /** Absolute; it may not exist yet. */
  readonly home: string;
  /**
   * Resolves once whoever reads has taken what was printed, so that a slow reader holds up the reading of a log and not
   * its bytes in memory. Absent where output takes everything at once.
   */
  readonly drained?: () => Promise<void>;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How this program is started again, for a daemon: `[node, yard.js]`. */
  readonly self: readonly [string, string];
  /** The server that this command is about; null for the control plane of the home. Throws where that is not clear. */
  readonly server: () => ServerAddress | null;
  /** Opened at the first call, closed by the caller of the command. */
  client(): Promise<RunyardClient>;
  readStdin(): Promise<string>;
  /** Asks at the terminal; absent where stdin is none. */
  readonly ask?: (question: string) => Promise<string>;
  /** Asks at the terminal without showing what is typed; absent where stdin is no terminal. */
  readonly secretInput?: (question: string) => Promise<string>;
  /** Calls back on a signal until the returned function is called. */
  onSignal(signal: CaughtSignal, callback: () => void): () => void;
  /** Ends this process by a signal, as it ends one that does not listen for it. */
  endBy(signal: CaughtSignal): void;
}

export type CaughtSignal = 'SIGINT' | 'SIGTERM' | 'SIGQUIT' | 'SIGHUP';

/** What was typed, sorted. */
export interface Invocation {
  readonly args: readonly string[];
  readonly options: Options;
  /** What followed `--`; null where there was none. */
  readonly rest: readonly string[] | null;
}

/** Options as commander gives them, by camelCase name. */
export type Options = Readonly<Record<string, unknown>>;

export function textOption(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

export function listOption(options: Options, name: string): readonly string[] {
  const value = options[name];
  return Array.isArray(value) ? value.map(String) : [];
}

export function flagOption(options: Options, name: string): boolean {
  return options[name] === true;
}

/** A command's module: returns the exit code. */
export interface CommandModule {
  readonly execute: (context: Context, invocation: Invocation) => Promise<number>;
}
