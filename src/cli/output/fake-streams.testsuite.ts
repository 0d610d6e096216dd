import type { Streams } from './streams.ts';

/** Streams that keep what is written, for tests. */
export function keepStreams(
  options: { terminal?: boolean; stdoutTerminal?: boolean; columns?: number; rows?: number; color?: boolean } = {},
): {
  readonly streams: Streams;
  readonly stdout: () => string;
  readonly stderr: () => string;
} {
  const { terminal = false, stdoutTerminal = terminal, columns = 80, rows = 24, color = false } = options;
  const written = { stdout: '', stderr: '' };
  const sink = (name: 'stdout' | 'stderr', isTerminal: boolean) => ({
    isTerminal,
    columns: () => columns,
    rows: () => rows,
    write: (data: string | Uint8Array) => {
      written[name] += typeof data === 'string' ? data : Buffer.from(data).toString('utf8');
    },
  });
  const streams = { stdout: sink('stdout', stdoutTerminal), stderr: sink('stderr', terminal), color };
  return { streams, stdout: () => written.stdout, stderr: () => written.stderr };
}
