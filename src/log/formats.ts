import type { LoggedFact } from './fact-log.ts';
import { LogError, UnknownFactError } from './log-error.ts';

/**
 * How facts become JSON and back. A log has one format number that all its writers use; a newer process may know several.
 * `decode` brings facts of older formats up to date and throws UnknownFactError for a kind that it does not know.
 */
export interface Formats<Fact extends LoggedFact> {
  /** Every format that this process can read and write, ascending. */
  readonly current: readonly number[];
  encode(fact: Fact, format: number): unknown;
  decode(json: unknown, format: number): Fact;
}

/** Format 1, in which a fact is its own JSON. With `kinds`, a fact of any other kind is unknown. */
export function plainFormats<Fact extends LoggedFact>(kinds?: Iterable<Fact['kind']>): Formats<Fact> {
  const known: ReadonlySet<string> | null = kinds === undefined ? null : new Set(kinds);
  return {
    current: [1],
    encode: (fact) => fact,
    decode: (json, format) => {
      const fact = json as Fact;
      if (known !== null && !known.has(fact.kind)) throw new UnknownFactError(String(fact.kind), format);
      return fact;
    },
  };
}

/** Throws UNREADABLE_FORMAT, naming both sides, when this process cannot use the log's format. */
export function requireFormat(formats: Pick<Formats<never>, 'current'>, format: number): void {
  if (formats.current.includes(format)) return;
  throw new LogError(
    'UNREADABLE_FORMAT',
    `the log is in format ${format}, and this version reads format ${formats.current.join(', ')} only; ` +
      'nothing was written. Use a version at least as new as the newest that has used this log',
  );
}

/** The highest format reached from `format` in single steps, each of which every registered process supports. */
export function raiseFormat(format: number, supports: readonly (readonly number[])[]): number {
  let raised = format;
  while (supports.length > 0 && supports.every((numbers) => numbers.includes(raised + 1))) raised += 1;
  return raised;
}
