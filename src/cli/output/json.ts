import type { Output } from './output.ts';
import type { Streams } from './streams.ts';

/** One document, or one object a line where it streams; errors too, on stderr. */
export function createJsonOutput(streams: Streams): Output {
  const line = (document: unknown): void => streams.stdout.write(`${JSON.stringify(document)}\n`);
  return {
    kind: 'json',
    inPlace: false,
    answer: (document) => streams.stdout.write(`${JSON.stringify(document, null, 2)}\n`),
    answerAgain: line,
    item: line,
    log: ({ job, label, step, stream, atMs, text }) =>
      line({ kind: 'log', job: label ?? job, step, stream, at: new Date(atMs).toISOString(), text }),
    status: ({ document }) => line(document),
    live: () => {},
    frame: () => {},
    note: () => {},
    error: ({ code, message, hint, path }) =>
      streams.stderr.write(`${JSON.stringify({ error: { code, message, hint, path } })}\n`),
  };
}
