import type { LogTables } from './tables.ts';

/** What a piece of work under the lock came to. */
export interface Outcome<T> {
  readonly result: T;
  /** False rolls back: nothing was to be written. */
  readonly changed: boolean;
  /** Whether the work is in the store, for a commit whose outcome is unknown. Without it such a commit counts as failed. */
  readonly isCommitted?: (tables: LogTables) => boolean;
}

/** Where a log lives. Several logs, in one process or many, may share what is behind it. */
export interface LogStore {
  /**
   * Runs `work` alone, seeing every earlier commit, and commits what it wrote: all of it or, when it throws, none.
   * `durable: false` may lose the commit when the machine loses power, never when a process dies.
   */
  write<T>(work: (tables: LogTables) => Outcome<T>, options?: { durable?: boolean }): Promise<T>;
  /** Runs `work` without the lock. */
  read<T>(work: (tables: LogTables) => T): Promise<T>;
  watch(listener: () => void): () => void;
  close(): Promise<void>;
}
