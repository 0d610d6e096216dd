import { cutToCells } from './cells.ts';
import { neutralise } from './escapes.ts';
import { createFrame } from './frame.ts';
import { layoutError, layoutStatus } from './layout.ts';
import { createLogWriter } from './log-writer.ts';
import type { Output, StatusLine } from './output.ts';
import type { Streams } from './streams.ts';

const eraseLine = '\r\x1b[2K';

/**
 * Colour, tables that fit, and one live line at the bottom. The live line is taken away before anything else is
 * written and drawn again only at the start of a line: it never cuts into what a job prints.
 */
export function createTerminalOutput(streams: Streams): Output {
  const bytesOf = createLogWriter(streams);
  let live: StatusLine | null = null;
  let drawn = false;
  let atLineStart = true;
  const frame = createFrame(streams);

  const erase = (): void => {
    if (drawn) streams.stderr.write(eraseLine);
    drawn = false;
  };
  const draw = (): void => {
    if (live === null || !atLineStart) return;
    const columns = streams.stderr.columns();
    streams.stderr.write(
      `${eraseLine}${cut(neutralise(layoutStatus({ ...streams, color: false }, live, columns - 1)), columns - 1)}`,
    );
    drawn = true;
  };
  const say = (text: string): void => {
    frame.leave();
    // At the start of a line stands nothing but what was typed, such as ^C.
    streams.stderr.write(`${atLineStart ? eraseLine : '\n'}${neutralise(text)}\n`);
    drawn = false;
    atLineStart = true;
    draw();
  };
  const answer = (text: string): void => {
    frame.leave();
    erase();
    streams.stdout.write(`${neutralise(text)}\n`);
  };
  return {
    kind: 'terminal',
    inPlace: streams.stdout.isTerminal,
    answer: (_document, asText) => answer(asText(streams.stdout.isTerminal ? streams.stdout.columns() : null)),
    item: (_document, asText) => answer(asText()),
    answerAgain(_document, asText) {
      if (!streams.stdout.isTerminal) return answer(asText(null));
      const lines = neutralise(asText(streams.stderr.columns() - 1)).split('\n');
      frame.draw(lines.map((text) => [{ text }]));
    },
    log(piece) {
      const sink = streams[piece.target];
      const data = bytesOf(piece);
      if (data.length === 0) return;
      erase();
      sink.write(data);
      if (sink.isTerminal) atLineStart = piece.text.endsWith('\n');
      draw();
    },
    status(line) {
      live = null;
      say(layoutStatus(streams, line, streams.stderr.columns()));
    },
    live(line) {
      live = line;
      if (line === null) erase();
      else draw();
    },
    frame: (lines) => (lines === null ? frame.leave() : frame.draw(lines)),
    note: say,
    error(report) {
      live = null;
      say(layoutError(streams, report));
    },
  };
}

function cut(text: string, width: number): string {
  return cutToCells(text.split('\n')[0] ?? '', width);
}
