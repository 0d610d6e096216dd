import { DocumentError } from '../wire/document-error.ts';
import type { Submission } from '../wire/submission.ts';
import { RefusalError } from './refusal-error.ts';

/** A program has no text whose line could be shown, so that what is wrong with its object is a refusal like any other. */
export function withDocumentRefusals<Read>(read: () => Read): Read {
  try {
    return read();
  } catch (error) {
    throw error instanceof DocumentError ? new RefusalError(error.refusal) : error;
  }
}

/** A file that was read already; whatever else a program hands over is read as a document, and refused by name. */
export function isSubmission(given: unknown): given is Submission {
  return typeof given === 'object' && given !== null && 'spec' in given;
}
