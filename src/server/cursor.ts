import { refused } from './http-refusal.ts';

/** A place in a list, as one word that means nothing to whoever hands it back. */
export function writeCursor<Place extends object>(place: Place, keys: readonly (keyof Place & string)[]): string {
  return Buffer.from(JSON.stringify(keys.map((key) => place[key]))).toString('base64url');
}

/** Places are made of numbers. */
export function readCursor<Place extends { [Key in keyof Place]: number }>(
  cursor: string,
  keys: readonly (keyof Place & string)[],
): Place {
  try {
    const numbers: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (Array.isArray(numbers) && numbers.length === keys.length && numbers.every(Number.isSafeInteger)) {
      return Object.fromEntries(keys.map((key, i) => [key, numbers[i]])) as Place;
    }
  } catch {
    // Told below, as everything else that is none.
  }
  throw refused('BAD_VALUE', 'the cursor is none that this list has given', { path: 'query.cursor' });
}
