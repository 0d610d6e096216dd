export type LogErrorCode =
  | 'UNKNOWN_FACT'
  | 'UNREADABLE_FORMAT'
  | 'BROKEN_CHAIN'
  | 'FORGOTTEN_FACTS'
  | 'REWOUND_LOG'
  | 'NOT_PLAIN_JSON'
  | 'CLOSED_LOG'
  | 'EMPTIED_LOG'
  | 'OLD_SQLITE'
  | 'NETWORK_FILE_SYSTEM';

/** What can be wrong with a log itself. Failures of the system beneath it (a full disk, a held lock) are HostErrors. */
export class LogError extends Error {
  readonly code: LogErrorCode;
  constructor(code: LogErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'LogError';
    this.code = code;
  }
}

/** Thrown by `Formats.decode` for a kind that this version does not know; the log is read-only from then on. */
export class UnknownFactError extends LogError {
  readonly kind: string;
  constructor(kind: string, format: number) {
    super(
      'UNKNOWN_FACT',
      `the log has a fact of kind "${kind}" (format ${format}) that this version does not know; it will write nothing. ` +
        'Use a version at least as new as the one that wrote it',
    );
    this.name = 'UnknownFactError';
    this.kind = kind;
  }
}

/** Thrown for facts that were trimmed; what is kept begins at `oldestSeq`, null when nothing is. */
export class ForgottenFactsError extends LogError {
  readonly oldestSeq: number | null;
  constructor(wantedSeq: number, oldestSeq: number | null) {
    super(
      'FORGOTTEN_FACTS',
      `the log keeps no fact ${wantedSeq} any more (its oldest is ${oldestSeq ?? 'none'}): start from a snapshot`,
    );
    this.name = 'ForgottenFactsError';
    this.oldestSeq = oldestSeq;
  }
}
