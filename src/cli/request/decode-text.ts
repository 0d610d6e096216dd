import { documentError } from '../../wire/document-error.ts';

/**
 * The text of a file. Bytes that are no UTF-8 are refused with their line, since whatever stood for them instead would
 * become part of a command, a path or a secret. A byte order mark is no part of the text.
 */
export function decodeText(bytes: Uint8Array, name: string): string {
  const text = decode(bytes);
  if (text !== null) return text;
  const message = `${name} is not UTF-8 text: line ${firstWrongLine(bytes)} has other bytes`;
  throw documentError('BAD_REQUEST', message, [], 'save it as UTF-8');
}

function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

/** No sequence of several bytes holds a line end, so that each line can be read by itself. */
function firstWrongLine(bytes: Uint8Array): number {
  let line = 1;
  let start = 0;
  for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
    if (decode(bytes.subarray(start, end)) === null) return line;
    start = end + 1;
    line += 1;
  }
  return line;
}
