import type { Attempt } from './attempt.ts';

/** Takes what attempts print to where people read it, when that is not on this node's own disk. */
export interface LogSink {
  /** The attempt's logs may grow from now on. `isFresh`: no agent before this one has begun with it. */
  open(attempt: Attempt, isFresh: boolean): void;
  /** Resolves once all that is written by now was taken, or cannot be for the time being. */
  flush(attempt: Attempt): Promise<void>;
  /** The attempt was put aside to this directory, and prints no more. */
  close(attempt: Attempt, directory: string): void;
}
