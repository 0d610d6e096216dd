import { cellsOf, cutToCells } from './cells.ts';
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
  let size = '';
  return {
    draw(lines) {
      const width = streams.stderr.columns() - 1;
      const rows = streams.stderr.rows();
      const next = cutToRows(lines, rows).map((line) => layoutFrameLine(streams, line, width));
      // Of a terminal of another size nobody knows what it made of the lines that stood there.
      const isResized = shown.length > 0 && size !== `${width} ${rows}`;
      size = `${width} ${rows}`;
      const other = isResized ? 0 : next.findIndex((line, row) => line !== shown[row]);
      const first = other < 0 ? Math.min(next.length, shown.length) : other;
      if (first === shown.length && next.length === shown.length) return;
      const up = Math.min(shown.length - first, rows - 1);
      const lead = up > 0 ? `\x1b[${up}A\r` : '\r';
      const text = next.slice(first).map((line) => `\x1b[2K${line}\n`);
      streams.stderr.write(`${lead}${text.join('')}${isResized || next.length < shown.length ? eraseBelow : ''}`);
      shown = next;
    },
    leave() {
      shown = [];
    },
  };
}

/** What is higher than the screen could not be drawn over: the first lines and the last one stay. */
function cutToRows(lines: readonly FrameLine[], rows: number): readonly FrameLine[] {
  // Below a frame stands the cursor.
  const most = Math.max(3, rows - 1);
  if (lines.length <= most) return lines;
  const head = lines.slice(0, most - 2);
  const left = lines.length - head.length - 1;
  return [...head, [{ text: `  … ${left} more ${left === 1 ? 'line' : 'lines'}` }], ...lines.slice(-1)];
}

/** Cut to the width before it is painted, so that no colour is cut in two and no line wraps. */
function layoutFrameLine(streams: Streams, line: FrameLine, width: number): string {
  let room = width;
  let text = '';
  for (const piece of line) {
    const shown = cutPiece(piece, room);
    room -= cellsOf(shown);
    text += piece.tone === undefined ? shown : paint(streams, styles[piece.tone], shown);
  }
  return text.trimEnd();
}

function cutPiece(piece: FramePiece, room: number): string {
  // A line end or an escape within would move everything below it.
  return cutToCells(piece.text.replace(/\p{Cc}/gu, ' '), room);
}
