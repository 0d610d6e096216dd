import type { FrameLine, FramePiece } from './output.ts';
import { paint, type Streams } from './streams.ts';

const eraseBelow = '\x1b[J';
const styles = { good: 'green', bad: 'red', waiting: 'yellow' } as const;

/** Several lines that are drawn over themselves, on stderr. A line that did not change is not written again. */
export function createFrame(streams: Streams): {
  readonly draw: (lines: readonly FrameLine[]) => void;
  /** What stands stays; the next frame begins below it. */
  readonly leave: () => void;
} {
  let shown: readonly string[] = [];
  return {
    draw(lines) {
      const width = streams.stderr.columns() - 1;
      const next = lines.map((line) => layoutFrameLine(streams, line, width));
      const same = next.findIndex((line, row) => line !== shown[row]);
      const first = same < 0 ? Math.min(next.length, shown.length) : same;
      if (first === shown.length && next.length === shown.length) return;
      const up = shown.length - first;
      const lead = up > 0 ? `\x1b[${up}A\r` : '\r';
      const text = next.slice(first).map((line) => `\x1b[2K${line}\n`);
      streams.stderr.write(`${lead}${text.join('')}${next.length < shown.length ? eraseBelow : ''}`);
      shown = next;
    },
    leave() {
      shown = [];
    },
  };
}

/** Cut to the width before it is painted, so that no colour is cut in two and no line wraps. */
function layoutFrameLine(streams: Streams, line: FrameLine, width: number): string {
  let room = width;
  let text = '';
  for (const piece of line) {
    const shown = cutPiece(piece, room);
    room -= Array.from(shown).length;
    text += piece.tone === undefined ? shown : paint(streams, styles[piece.tone], shown);
  }
  return text.trimEnd();
}

function cutPiece(piece: FramePiece, room: number): string {
  // A line end or an escape within would move everything below it.
  const characters = Array.from(piece.text.replace(/\p{Cc}/gu, ' '));
  if (characters.length <= room) return characters.join('');
  return room <= 0 ? '' : `${characters.slice(0, room - 1).join('')}…`;
}
