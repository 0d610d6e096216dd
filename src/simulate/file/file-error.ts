import { DocumentError, type KeyPath } from '../../wire/document-error.ts';

/** Runs the read of one entry; what is wrong in it is thrown as an error at its place in the whole file. */
export function readAt<Result>(place: KeyPath, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw error instanceof DocumentError ? movedTo(error, place) : error;
  }
}

/** The first key of the path names the table in general: the entry stands in its stead. */
function movedTo({ refusal, keyPath }: DocumentError, place: KeyPath): DocumentError {
  const moved = [...place, ...keyPath.slice(1)];
  return new DocumentError({ ...refusal, path: moved.join('.') }, moved);
}
