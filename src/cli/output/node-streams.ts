import type { Sink, Streams } from './streams.ts';

export interface NodeStreamsOptions {
  readonly color: boolean;
  /** Told when nobody reads any more, or the terminal is gone. */
  readonly onClosed: () => void;
  /** Told when what was written is lost for another reason, such as a full disk; nothing more is written to that one. */
  readonly onLost: (stream: 'stdout' | 'stderr', error: Error) => void;
}

/** The process's own streams. */
export function createNodeStreams(options: NodeStreamsOptions): Streams {
  const noColor = !options.color || (process.env.NO_COLOR ?? '') !== '';
  const stdout = createSink('stdout', options);
  const stderr = createSink('stderr', options);
  return { stdout, stderr, color: !noColor && stdout.isTerminal && stderr.isTerminal };
}

/** Streams that take no more: they never drain, nor do the process's own say that they are destroyed. */
const gone = new WeakSet<NodeJS.WriteStream>();

/** Resolves when neither stream holds anything back; one that has gone holds nothing. */
export async function drained(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    if (!stream.writableNeedDrain || gone.has(stream)) continue;
    await new Promise<void>((resolve) => {
      const events = ['drain', 'close', 'error'] as const;
      const done = (): void => {
        for (const event of events) stream.off(event, done);
        resolve();
      };
      for (const event of events) stream.on(event, done);
    });
  }
}

function createSink(name: 'stdout' | 'stderr', { onClosed, onLost }: NodeStreamsOptions): Sink {
  const stream = process[name];
  let open = true;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    open = false;
    gone.add(stream);
    if (error.code === 'EPIPE' || error.code === 'EIO') onClosed();
    else onLost(name, error);
  });
  return {
    // One that cannot move its cursor gets the plain lines of a pipe.
    isTerminal: stream.isTTY === true && process.env.TERM !== 'dumb',
    // Some terminals do not know, and say 0.
    columns: () => stream.columns || 80,
    rows: () => stream.rows || 24,
    write(data) {
      if (open) stream.write(data);
    },
  };
}
