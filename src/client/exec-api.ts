import type { Readable, Writable } from 'node:stream';

/** A command beside a task. */
export interface ExecOptions {
  /** Program and arguments; empty: a shell. */
  readonly command: readonly string[];
  /** Its streams; those of this process unless told, with its terminal where it has one. */
  readonly streams?: ExecStreams;
}

export interface ExecStreams {
  /** Null: there is nothing to read. */
  readonly stdin: Readable | null;
  readonly stdout: Writable;
  readonly stderr: Writable;
}

/** It runs. */
export interface ExecSession {
  readonly node: string;
  /** Why there is no terminal where one was wanted; null where there is one, or none was. */
  readonly withoutTerminal: string | null;
  /** For Ctrl-C where no terminal passes it on. */
  interrupt(): void;
  /** Asks it to end by SIGTERM, which a shell with a terminal takes no notice of. */
  terminate(): void;
  /** Ends it and all that it started: SIGHUP, and SIGKILL 2 s later. Resolves when nobody has to stay here for that. */
  hangUp(): Promise<void>;
  readonly ended: Promise<ExecEnd>;
}

export interface ExecEnd {
  readonly exitCode: number | null;
  readonly signal: number | null;
  /** Why it could not be started at all, in one sentence. */
  readonly problem: string | null;
}
