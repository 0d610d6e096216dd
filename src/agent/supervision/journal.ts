import { freshHealth, type Health, type Probes } from '../../core/supervision/probe.ts';
import { freshHistory, type RestartHistory } from '../../core/supervision/restart.ts';
import type { Files } from '../../host/files.ts';
import type { Attempt } from '../attempt.ts';

/**
 * What must outlive the agent about a supervised command: with it the next agent counts on where this one stopped, and
 * keeps its last verdict. All times are boot times; they mean nothing after another boot, and none is needed then.
 */
export interface Supervision {
  /** The run that is under way, or the next one while it waits for its start. Counted from 1. */
  readonly run: number;
  readonly history: RestartHistory;
  readonly lastFailure: string | null;
  /** The nonce of the latest start whose end has been dealt with: records under it are old, whatever they say. */
  readonly dealtWith: string | null;
  /** The run does not start before. */
  readonly notBeforeMs: number;
  /** When the run began; null until it has. Probes count from here, never from the decision to restart (C7). */
  readonly startedMs: number | null;
  readonly health: Health;
  /** Since when it has been running and ready without a break; null when it is not ready. */
  readonly readySinceMs: number | null;
  /** The port has accepted a connection in this run. */
  readonly isOpen: boolean;
  /** What was last reported of this run's readiness. */
  readonly told: Readiness | null;
  /** Runs in a row that did not count as they found their port taken by somebody else. */
  readonly portMoves: number;
}

export interface Readiness {
  readonly ready: boolean;
  readonly reason: string | null;
}

/** The first run, before it begins. */
export function firstState(probes: Probes): Supervision {
  return {
    run: 1,
    history: freshHistory,
    lastFailure: null,
    dealtWith: null,
    notBeforeMs: 0,
    startedMs: null,
    health: freshHealth(1, probes),
    readySinceMs: null,
    isOpen: false,
    told: null,
    portMoves: 0,
  };
}

/** Above this size the journal is written anew, with its last line alone. */
const longestBytes = 64 * 1024;

const newline = 0x0a;

export interface SupervisionJournal {
  /** Null when nothing was journaled yet, or when a power loss left a torn file: then another boot ends the attempt anyway. */
  read(): Promise<Supervision | null>;
  /**
   * Takes the place of all that was written before, at once and whole. It need not reach the disk: it must survive the
   * agent, for which the write is enough; after a power loss the boot is another one, and the attempt is over.
   */
  write(supervision: Supervision): Promise<void>;
}

/**
 * One line for each state, of which the last whole one counts: a line more costs a tenth of a rename, for which some
 * file systems go to the disk, and a command waits for this one before it is started again.
 */
export function openSupervisionJournal(files: Files, attempt: Attempt): SupervisionJournal {
  const path = `${attempt.directory}/run.supervision`;
  // Unknown at first, and after a write that failed: the file may then end in the middle of a line.
  let sizeBytes: number | null = null;
  let last: Promise<void> = Promise.resolve();
  const write = async (line: Uint8Array): Promise<void> => {
    const before = sizeBytes;
    sizeBytes = null;
    const isNew = before === null || before + line.length > longestBytes;
    if (isNew) await files.writeAtomic(path, line, { mode: 0o600 });
    else await files.append(path, line);
    sizeBytes = line.length + (isNew ? 0 : before);
  };
  return {
    async read() {
      const bytes = await files.read(path);
      return bytes === null ? null : lastOf(bytes);
    },
    write(supervision) {
      const line = new TextEncoder().encode(`${JSON.stringify(supervision)}\n`);
      const done = last.then(() => write(line));
      last = done.catch(() => {});
      return done;
    },
  };
}

function lastOf(bytes: Uint8Array): Supervision | null {
  for (let end = bytes.length; end > 0; ) {
    const start = bytes.lastIndexOf(newline, end - 1) + 1;
    const found = start === end ? null : parseLine(bytes.subarray(start, end));
    if (found !== null) return found;
    end = start - 1;
  }
  return null;
}

function parseLine(bytes: Uint8Array): Supervision | null {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as Supervision;
  } catch {
    // A torn line: the agent died, or the disk was full, in the middle of it.
    return null;
  }
}
