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

/** Null when nothing was journaled yet, or when a power loss left a torn file: then another boot ends the attempt anyway. */
export async function readSupervision(files: Files, attempt: Attempt): Promise<Supervision | null> {
  const bytes = await files.read(journalPath(attempt));
  if (bytes === null) return null;
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as Supervision;
  } catch {
    return null;
  }
}

/**
 * Replaces the journal at once and whole. It need not reach the disk: it must survive the agent, for which the rename
 * is enough; after a power loss the boot is another one, and the attempt is over.
 */
export async function writeSupervision(files: Files, attempt: Attempt, supervision: Supervision): Promise<void> {
  await files.writeAtomic(journalPath(attempt), new TextEncoder().encode(JSON.stringify(supervision)), { mode: 0o600 });
}

function journalPath({ directory }: Attempt): string {
  return `${directory}/run.supervision`;
}
