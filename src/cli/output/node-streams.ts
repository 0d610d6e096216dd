import type { Sink, Streams } from './streams.ts';

/** The process's own streams. `onClosed` is told when nobody reads stdout any more, or the terminal is gone. */
export function createNodeStreams(options: { readonly color: boolean; readonly onClosed: () => void }): Streams {
  const noColor = !options.color || (process.env.NO_COLOR ?? '') !== '';
  const stdout = createSink(process.stdout, options.onClosed);
  const stderr = createSink(process.stderr, options.onClosed);
  return { stdout, stderr, color: !noColor && stdout.isTerminal && stderr.isTerminal && process.env.TERM !== 'dumb' };
}

function createSink(stream: NodeJS.WriteStream, onClosed: () => void): Sink {
  let open = true;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error;
    open = false;
    onClosed();
  });
  return {
    isTerminal: stream.isTTY === true,
    columns: () => Math.max(40, stream.columns ?? 80),
    write(data) {
      if (open) stream.write(data);
    },
  };
}
