import { byteLength } from '../core/job/check-spec.ts';
import { documentError, type KeyPath } from './document-error.ts';

/** Largest document in bytes of UTF-8 [R4.14]. */
export const largestDocumentBytes = 1024 * 1024;
/** Deepest nesting of tables and lists [R4.18]. */
export const deepestNesting = 64;

const poisonousKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** Refuses a text that is too large to be read at all. Called before any parser sees it. */
export function checkTextSize(text: string, fileName: string): void {
  const sizeBytes = text.length > largestDocumentBytes ? text.length : byteLength(text);
  if (sizeBytes <= largestDocumentBytes) return;
  throw documentError('TOO_LARGE', `${fileName} is ${sizeBytes} bytes; a document has at most 1 MiB`, []);
}

/** Refuses JSON text that nests too deeply, without a parser's recursion. */
export function checkTextDepth(text: string, fileName: string): void {
  let depth = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[{\]}]/g)) {
    if (token === '[' || token === '{') depth += 1;
    else if (token === ']' || token === '}') depth -= 1;
    if (depth > deepestNesting) throw tooDeep(fileName, []);
  }
}

/**
 * A copy of a document in plain, null-prototype tables, whoever made it. Refuses what no schema should have to think
 * of: keys that reach into prototypes, nesting without end, whole numbers that lost digits, dates.
 */
export function guardDocument(document: unknown, fileName: string): unknown {
  return copy(document, [], fileName);
}

function copy(value: unknown, path: KeyPath, fileName: string): unknown {
  if (path.length > deepestNesting) throw tooDeep(fileName, path);
  if (typeof value === 'bigint' || (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER)) {
    if (value !== Number.POSITIVE_INFINITY && value !== Number.NEGATIVE_INFINITY) throw tooLong(value, path, fileName);
  }
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) {
    throw documentError('BAD_VALUE', `${path.join('.') || fileName} is a date`, path, 'write text in quotes');
  }
  if (Array.isArray(value)) return value.map((item, index) => copy(item, [...path, index], fileName));
  const table: Record<string, unknown> = Object.create(null);
  for (const [key, item] of Object.entries(value)) {
    guardKey(key, path);
    if (item !== undefined) table[key] = copy(item, [...path, key], fileName);
  }
  return table;
}

/** Refuses a key that reaches into prototypes [R4.19]. */
export function guardKey(key: string, path: KeyPath): void {
  if (!poisonousKeys.has(key)) return;
  throw documentError('UNKNOWN_KEY', `unknown key "${key}"`, [...path, key], 'no key has this name; remove it');
}

function tooDeep(fileName: string, path: KeyPath): Error {
  const message = `${fileName} nests deeper than ${deepestNesting} levels`;
  return documentError('TOO_DEEP', message, path.slice(0, 1), 'write it flatter');
}

function tooLong(value: bigint | number, path: KeyPath, fileName: string): Error {
  const message = `${path.join('.') || fileName} is ${value}; whole numbers go up to 2^53`;
  return documentError('RANGE', message, path);
}
