import Table from 'cli-table3';
import { cellsOf } from './cells.ts';
import { neutralise } from './escapes.ts';

const noLines = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '',
};
const gapWidth = 2;
const narrowestLast = 16;
/** Whoever gave a cell its text makes no rows of the table with it; spaces line figures up. */
const lineEnds = /[\t\n\v\f\r\u0085\u2028\u2029]\s*/g;

/**
 * Rows under a head, two spaces between the columns. On a terminal (`width` is not null) the last column wraps so that
 * the whole fits; in a pipe every row is one line.
 */
export function layoutTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  width: number | null,
): string {
  const cells = [head, ...rows].map((row) => row.map((cell) => neutralise(cell.replaceAll(lineEnds, ' '))));
  const widths = head.map((_, column) => Math.max(...cells.map((row) => cellsOf(row[column] ?? ''))));
  const last = head.length - 1;
  const before = widths.slice(0, last).reduce((sum, one) => sum + one + gapWidth, 0);
  const room = width === null ? Number.POSITIVE_INFINITY : Math.max(narrowestLast, width - before);
  const colWidths = widths.map((one, column) => (column === last ? Math.min(one, room) : one + gapWidth));
  const table = new Table({
    chars: noLines,
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
    colWidths: colWidths.map((one) => Math.max(1, one)),
    wordWrap: true,
  });
  table.push(...cells);
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}
