import type { Row } from './sqlite-connection.ts';

/** Columns of a row by type. The schema is strict, so another type than asked for is a bug here. */
export function text(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== 'string') throw wrongType(column, 'text', value);
  return value;
}

export function integer(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== 'number') throw wrongType(column, 'an integer', value);
  return value;
}

export function bytes(row: Row, column: string): Uint8Array {
  const value = row[column];
  if (!(value instanceof Uint8Array)) throw wrongType(column, 'bytes', value);
  return value;
}

function wrongType(column: string, expected: string, found: unknown): Error {
  return new Error(`column ${column}: expected ${expected}, found ${found === null ? 'null' : typeof found}`);
}
