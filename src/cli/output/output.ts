/** Everything the CLI says goes through one Output; which one is chosen once, at the start. */
export interface Output {
  readonly kind: 'terminal' | 'plain' | 'json' | 'quiet';
  /** Whether what is answered again is seen on a terminal, in the place of what was. */
  readonly inPlace: boolean;
  /** The answer that was asked for, on stdout: one document, or its text. */
  readonly answer: Answer;
  /** An answer that the next one replaces: in place on a terminal, else one after the other. */
  readonly answerAgain: Answer;
  /** One of many in a stream, on stdout. */
  item(document: object, asText: () => string): void;
  /** A piece of a job's output: its stdout on stdout, the rest on stderr. */
  log(piece: LogPiece): void;
  /** What became of a job: one line on stderr. */
  status(line: StatusLine): void;
  /** The same, while it lasts: replaced in place by what comes next. Only a terminal shows it. */
  live(line: StatusLine | null): void;
  /** Several lines, replaced in place by the next; only a terminal shows them. Null leaves them where they stand. */
  frame(lines: readonly FrameLine[] | null): void;
  /** Something to know, on stderr. */
  note(text: string): void;
  error(report: ErrorReport): void;
}

/** A document for scripts, and its text, laid out for a terminal of so many columns or, with null, for a pipe. */
export type Answer = (document: unknown, asText: (width: number | null) => string) => void;

/** One line of a frame, in pieces of one colour each; what does not fit is cut. */
export type FrameLine = readonly FramePiece[];

export interface FramePiece {
  readonly text: string;
  readonly tone?: 'good' | 'bad' | 'waiting';
}

/** `digits-k3f9q2  setup               12.4 s`. */
export interface StatusLine {
  readonly id: string;
  readonly label: string;
  readonly detail: string;
  /** What to do, set apart to the right. */
  readonly hint?: string;
  readonly tone?: 'good' | 'bad' | 'waiting';
  /** Share of the work that is done, 0 to 1: drawn as a bar on a terminal. */
  readonly fraction?: number;
  /** What stands behind the bar. */
  readonly afterBar?: string;
  /** Lines below, indented: what to do next. */
  readonly below?: readonly string[];
  /** What `--json` prints in its place. */
  readonly document: object;
}

export interface LogPiece {
  readonly job: string;
  /** Set where several are shown at once. */
  readonly label: string | null;
  readonly step: 'setup' | 'run';
  readonly stream: 'stdout' | 'stderr';
  readonly atMs: number;
  readonly text: string;
  readonly bytes: Uint8Array;
  readonly timestamps: boolean;
  /** Which stdout and stderr it is asked for as: `yard logs` puts all of it on stdout. */
  readonly target: 'stdout' | 'stderr';
}

/** `error: …`, the excerpt, and what to do. */
export interface ErrorReport {
  readonly code: string;
  readonly message: string;
  readonly hint: string | null;
  readonly path: string | null;
  readonly excerpt: string | null;
}
