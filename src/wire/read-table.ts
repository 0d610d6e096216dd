import type * as z from 'zod';
import type { RefusalCode } from '../core/refusal.ts';
import { type DocumentError, documentError, type KeyPath } from './document-error.ts';
import { placeName, unknownKey } from './key-advice.ts';
import { showValue } from './write-value.ts';

type Issue = z.core.$ZodIssue;

/**
 * Reads one table through its schema. What is wrong is thrown as one DocumentError: unknown keys first, since what is
 * missing is often just misspelt. `subjectOf` names a place where it did not come from a file (`--gpus`).
 */
export function readTable<Schema extends z.ZodType>(
  schema: Schema,
  table: unknown,
  place: string,
  subjectOf: (path: KeyPath) => string | null = () => null,
): z.output<Schema> {
  const read = schema.safeParse(table);
  if (read.success) return read.data;
  const issues = read.error.issues;
  const issue = issues.find((one) => one.code === 'unrecognized_keys') ?? issues[0];
  if (issue === undefined) throw new Error(`the schema of [${place}] failed without an issue`);
  throw describe(issue, table, place, subjectOf);
}

function describe(
  issue: Issue,
  table: unknown,
  place: string,
  subjectOf: (path: KeyPath) => string | null,
): DocumentError {
  const inner = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
  const path = [place, ...inner];
  if (issue.code === 'unrecognized_keys') {
    const key = issue.keys[0] ?? '';
    return unknownKey([...path, key], valueAt(table, [...inner, key]));
  }
  const value = valueAt(table, inner);
  const key = String(path[path.length - 1]);
  if (value === undefined) {
    const where = placeName(path.slice(0, -1).join('.'));
    const hint = `add ${key} = … (${issue.message})`;
    return documentError('MISSING_KEY', `${where} has no "${key}"`, path, hint);
  }
  const subject = subjectOf(path) ?? subjectInFile(place, inner);
  const message = `${subject} is ${showValue(value)}; expected ${issue.message}`;
  return documentError(codeOf(issue), message, path, hintOf(value, path));
}

/** `resources.gpus in [profile]`. */
function subjectInFile(place: string, inner: KeyPath): string {
  return inner.length === 0 ? place : `${inner.join('.')} in [${place}]`;
}

/** Wrong numbers are a matter of range, whatever their form; the rest of form. */
function codeOf(issue: Issue): RefusalCode {
  const { code } = issue;
  if (code === 'too_big' || code === 'too_small') return 'RANGE';
  if (code === 'invalid_type') return issue.expected === 'number' || issue.expected === 'int' ? 'RANGE' : 'BAD_VALUE';
  if (code === 'custom') return issue.params?.code === 'RANGE' ? 'RANGE' : 'BAD_VALUE';
  const inner = code === 'invalid_union' ? issue.errors.flat() : [];
  return inner.some((one) => codeOf(one) === 'RANGE') ? 'RANGE' : 'BAD_VALUE';
}

function hintOf(value: unknown, path: KeyPath): string | null {
  if (path[1] === 'env' && (typeof value === 'number' || typeof value === 'boolean')) return `write "${value}"`;
  if (path[1] === 'setupReuse' && typeof value === 'string') return `write ["${value}"]`;
  return null;
}

function valueAt(table: unknown, path: KeyPath): unknown {
  let value = table;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<string | number, unknown>)[key];
  }
  return value;
}
