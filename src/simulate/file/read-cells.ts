import { DocumentError, documentError } from '../../wire/document-error.ts';
import { guardKey } from '../../wire/document-guard.ts';
import { writeExcerpt } from '../../wire/locate.ts';

/** One line of a trace by the names of its columns. */
export type Cells = Readonly<Record<string, string | number>>;

export interface Line {
  readonly cells: Cells;
  /** From 1. */
  readonly line: number;
  readonly source: string;
}

/** The lines of a CSV with a head, or of a file with an object a line. Throws a DocumentError. */
export function* readCells(text: string, fileName: string): Generator<Line> {
  let head: readonly string[] | null = null;
  let line = 0;
  for (const source of linesOf(text)) {
    line += 1;
    if (source.trim() === '') continue;
    if (source.trimStart().startsWith('{')) {
      yield { cells: readObject(source, fileName, line), line, source };
      continue;
    }
    const values = splitCsv(source);
    if (head === null) {
      head = values.map((name) => name.trim());
      for (const name of head) guardKey(name, ['workload']);
      continue;
    }
    const pairs = head.map((name, column): [string, string] => [name, values[column] ?? '']);
    yield { cells: Object.fromEntries(pairs), line, source };
  }
}

function* linesOf(text: string): Generator<string> {
  let from = text.startsWith('\ufeff') ? 1 : 0;
  while (from < text.length) {
    const end = text.indexOf('\n', from);
    const to = end < 0 ? text.length : end;
    yield text.slice(from, text[to - 1] === '\r' && to > from ? to - 1 : to);
    from = to + 1;
  }
}

function readObject(source: string, fileName: string, line: number): Cells {
  let parsed: unknown;
  try {
    parsed = JSON.parse(source);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const { refusal, keyPath } = documentError('BAD_REQUEST', `${fileName}:${line} is no JSON: ${reason}`, [
      'workload',
    ]);
    throw new DocumentError(refusal, keyPath, excerptOfLine({ source, fileName, line }));
  }
  const cells: Record<string, string | number> = Object.create(null);
  for (const [key, value] of Object.entries(parsed as object)) {
    if (typeof value === 'string' || typeof value === 'number') cells[key] = value;
  }
  return cells;
}

/** One line of a long file as errors show it. */
export function excerptOfLine({ source, fileName, line }: { source: string; fileName: string; line: number }): string {
  const length = Math.max(1, Math.min(source.length, 60));
  return writeExcerpt('\n'.repeat(line - 1) + source, fileName, { line, column: 0, length });
}

/** Commas, and quotes around what holds one; a quote is doubled within quotes. A cell stays within its line. */
function splitCsv(source: string): readonly string[] {
  if (!source.includes('"')) return source.split(',');
  const cells: string[] = [];
  let cell = '';
  let quoted = false;
  for (let position = 0; position < source.length; position += 1) {
    const character = source[position] ?? '';
    if (quoted && character === '"' && source[position + 1] === '"') {
      cell += '"';
      position += 1;
    } else if (character === '"') {
      quoted = !quoted;
    } else if (character === ',' && !quoted) {
      cells.push(cell);
      cell = '';
    } else {
      cell += character;
    }
  }
  return [...cells, cell];
}
