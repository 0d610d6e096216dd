import { DocumentError } from '../wire/document-error.ts';
import { RefusalError } from './refusal-error.ts';

/** A program has no text whose line could be shown, so that what is wrong with its object is a refusal like any other. */
export function withDocumentRefusals<Read>(read: () => Read): Read {
  try {
    return read();
  } catch (error) {
    throw error instanceof DocumentError ? new RefusalError(error.refusal) : error;
  }
}
