/** Where text goes. Tests hand in their own. */
export interface Streams {
  readonly stdout: Sink;
  readonly stderr: Sink;
  /** Colour on stderr and on stdout, as the terminal, NO_COLOR and --no-color have it. */
  readonly color: boolean;
}

export interface Sink {
  readonly isTerminal: boolean;
  /** Columns of the terminal. */
  columns(): number;
  /** Lines of the terminal. */
  rows(): number;
  write(data: string | Uint8Array): void;
}

const styles = { green: 32, yellow: 33, red: 31, dim: 2, bold: 1 } as const;
export type Style = keyof typeof styles;

/** Text in a colour, where colour is on. */
export function paint(streams: Streams, style: Style, text: string): string {
  return streams.color ? `\x1b[${styles[style]}m${text}\x1b[0m` : text;
}
