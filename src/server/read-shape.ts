import type * as z from 'zod';
import type { RefusalCode } from '../core/refusal.ts';
import { refused } from './http-refusal.ts';

type Issue = z.core.$ZodIssue;

/** Reads a value through its schema; what is wrong is refused with its place: `body.submission.spec.name`. */
export function readShape<Schema extends z.ZodType>(schema: Schema, value: unknown, place: string): z.output<Schema> {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const { issues } = read.error;
  const issue = issues.find((one) => one.code === 'unrecognized_keys') ?? issues[0];
  if (issue === undefined) throw new Error(`the schema of the ${place} failed without an issue`);
  throw refusalOfIssue(narrow(issue), value, place);
}

/** Of a union, the alternative that came furthest: what is wrong inside it says more than that none fits. */
function narrow(issue: Issue): Issue {
  if (issue.code !== 'invalid_union') return issue;
  const inner = issue.errors.flat().sort((a, b) => b.path.length - a.path.length)[0];
  return inner === undefined ? issue : narrow({ ...inner, path: [...issue.path, ...inner.path] });
}

function refusalOfIssue(issue: Issue, whole: unknown, place: string): Error {
  const inner = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    const key = (issue.keys[0] ?? '').slice(0, 100);
    return refused('UNKNOWN_KEY', `unknown key ${JSON.stringify(key)} in the ${place}`, {
      path: [place, ...inner, key].join('.'),
      hint: 'docs/reference/http.md lists those that it may have',
    });
  }
  const path = [place, ...inner].join('.');
  const value = valueAt(whole, inner);
  if (value === undefined && inner.length > 0) return refused('MISSING_KEY', `${path} is missing`, { path });
  const shown = (JSON.stringify(value) ?? 'nothing').slice(0, 100);
  return refused(codeOf(issue), `${path} is ${shown}; expected ${expectedOf(issue)}`, { path });
}

const typeWords: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** What a schema says of itself, else words for people in place of the library's. */
function expectedOf(issue: Issue): string {
  if (!/^(Invalid|Too) /.test(issue.message)) return issue.message;
  switch (issue.code) {
    case 'invalid_type':
      return typeWords[issue.expected] ?? issue.expected;
    case 'invalid_value':
      return issue.values.map((value) => JSON.stringify(value)).join(' or ');
    case 'too_small':
      return `at least ${issue.minimum}${unitOf(issue.origin)}`;
    case 'too_big':
      return `at most ${issue.maximum}${unitOf(issue.origin)}`;
    default:
      return 'another form: GET /v1/openapi.json has it';
  }
}

function unitOf(origin: string): string {
  if (origin === 'string') return ' characters';
  return origin === 'array' ? ' entries' : '';
}

function codeOf(issue: Issue): RefusalCode {
  if (issue.code === 'too_big' || issue.code === 'too_small') return 'RANGE';
  if (issue.code !== 'invalid_type') return 'BAD_VALUE';
  return issue.expected === 'number' || issue.expected === 'int' ? 'RANGE' : 'BAD_VALUE';
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== 'object' || found === null) return undefined;
    found = (found as Readonly<Record<string, unknown>>)[key];
  }
  return found;
}
