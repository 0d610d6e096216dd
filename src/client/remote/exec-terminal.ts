/** The terminal of this process. */
export interface Terminal {
  size(): TerminalSize & { readonly type: string };
  /** Every key goes to the command from now on. Returns how to give the terminal back. */
  take(onResize: (size: TerminalSize) => void): () => void;
}

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** Null where stdin and stdout are not both a terminal: then a command has pipes, as in a shell's pipeline. */
export function ownTerminal(): Terminal | null {
  const { stdin, stdout } = process;
  if (!stdin.isTTY || !stdout.isTTY) return null;
  const size = (): TerminalSize => ({ columns: Math.max(1, stdout.columns), rows: Math.max(1, stdout.rows) });
  return {
    size: () => ({ ...size(), type: process.env.TERM ?? 'xterm' }),
    take(onResize) {
      const resized = (): void => onResize(size());
      const giveBack = (): void => {
        stdout.off('resize', resized);
        process.off('exit', giveBack);
        stdin.setRawMode(false);
      };
      stdin.setRawMode(true);
      stdout.on('resize', resized);
      // However this process ends, the shell behind it must be usable.
      process.once('exit', giveBack);
      return giveBack;
    },
  };
}
