import { neutralise } from './escapes.ts';
import { layoutError, layoutStatus } from './layout.ts';
import { createLogWriter } from './log-writer.ts';
import type { Output } from './output.ts';
import type { Streams } from './streams.ts';

/** Plain lines, for pipes and files: no colour, no bar, the bytes of a job as they are. */
export function createPlainOutput(streams: Streams): Output {
  const say = (text: string): void => streams.stderr.write(`${neutralise(text)}\n`);
  const bytesOf = createLogWriter(streams);
  const { stdout } = streams;
  const answer: Output['answer'] = (_document, asText) =>
    stdout.write(`${neutralise(asText(stdout.isTerminal ? stdout.columns() : null))}\n`);
  return {
    kind: 'plain',
    inPlace: false,
    answer,
    answerAgain: answer,
    item: (_document, asText) => stdout.write(`${neutralise(asText())}\n`),
    log: (piece) => streams[piece.target].write(bytesOf(piece)),
    status: (line) => say(layoutStatus(streams, line, null)),
    live: () => {},
    frame: () => {},
    note: say,
    error: (report) => say(layoutError(streams, report)),
  };
}
