import { createNeutraliser } from './escapes.ts';
import type { LogPiece } from './output.ts';
import type { Streams } from './streams.ts';

/**
 * What is written for a piece of a job's output: its bytes as they are into a pipe, its text made harmless on a
 * terminal; with a label or a time before each line, where that was asked for.
 */
export function createLogWriter(streams: Streams): (piece: LogPiece) => string | Uint8Array {
  const neutralisers = new Map<string, (text: string) => string>();
  return (piece) => {
    const onTerminal = streams[piece.target].isTerminal;
    if (!onTerminal) return piece.label === null && !piece.timestamps ? piece.bytes : markLines(piece, piece.text);
    const source = `${piece.label} ${piece.step} ${piece.stream}`;
    const neutralise = neutralisers.get(source) ?? createNeutraliser();
    neutralisers.set(source, neutralise);
    return markLines(piece, neutralise(piece.text));
  };
}

/** Each line with its label and its time. */
function markLines(piece: LogPiece, text: string): string {
  const time = piece.timestamps ? `${new Date(piece.atMs).toISOString()}  ` : '';
  const mark = `${piece.label === null ? '' : `${piece.label}  `}${time}`;
  if (mark === '' || text === '') return text;
  const lines = text.split('\n');
  if (lines[lines.length - 1] === '') lines.pop();
  return `${lines.map((line) => mark + line).join('\n')}\n`;
}
