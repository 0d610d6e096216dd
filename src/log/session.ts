import type { Host } from '../host/host.ts';
import type { LoggedFact } from './fact-log.ts';
import type { Formats } from './formats.ts';
import { requireFormat } from './formats.ts';
import { LogError, UnknownFactError } from './log-error.ts';
import type { TimeAnchor } from './log-time.ts';
import type { LogStore, Outcome } from './store.ts';
import type { Head, LogTables, Writer } from './tables.ts';

/** The parts of the outside that a log needs; the whole Host fits. */
export type LogHost = Pick<Host, 'clock' | 'timers' | 'chance' | 'digests' | 'compression' | 'processes'>;

/** What one open log knows. */
export interface LogSession<Fact extends LoggedFact> {
  readonly store: LogStore;
  readonly host: LogHost;
  readonly formats: Formats<Fact>;
  readonly self: Writer;
  readonly incarnation: string;
  /** The latest anchor seen: log time is extrapolated from it. */
  anchor: TimeAnchor;
  /** The log's format when it was last looked at. */
  format: number;
  /** Set once this process met a fact that it does not know: it writes nothing from then on. */
  unknownFact: UnknownFactError | null;
  /** Boot time of the last look for dead writers that hold back the log's format. */
  writersCheckedMs: number;
}

/** Runs `work` under the lock, once it is sure that this process may write to this log. */
export async function writeTo<Fact extends LoggedFact, T>(
  session: LogSession<Fact>,
  work: (tables: LogTables, head: Head) => Outcome<T>,
  options?: { durable?: boolean },
): Promise<T> {
  return session.store.write((tables) => {
    if (session.unknownFact !== null) throw session.unknownFact;
    return work(tables, checkHead(session, tables.head()));
  }, options);
}

/** Refuses a log that is not the one that was opened, or that has moved on to a format that this process cannot read. */
export function checkHead<Fact extends LoggedFact>(session: LogSession<Fact>, head: Head): Head {
  if (head.incarnation !== session.incarnation) {
    throw new LogError(
      'REWOUND_LOG',
      `the log was restored meanwhile: its incarnation is ${head.incarnation}, it was ${session.incarnation}. Start again`,
    );
  }
  requireFormat(session.formats, head.format);
  session.anchor = head.anchor;
  session.format = head.format;
  return head;
}

/** Reads one fact; one that is not known makes the log read-only, since what follows from it cannot be known either. */
export function decodeFact<Fact extends LoggedFact>(session: LogSession<Fact>, json: unknown, format: number): Fact {
  requireFormat(session.formats, format);
  try {
    return session.formats.decode(json, format);
  } catch (error) {
    if (error instanceof UnknownFactError) session.unknownFact = error;
    throw error;
  }
}
