import { parse, TomlError } from 'smol-toml';
import { refuse } from '../core/refusal.ts';
import { DocumentError, documentError, type KeyPath } from './document-error.ts';
import { checkTextDepth, checkTextSize, deepestNesting } from './document-guard.ts';
import { locateInToml, writeExcerpt } from './locate.ts';
import { type NamedProfile, parseJobDocument, parseProfileDocument } from './parse-document.ts';
import { parseServiceDocument } from './parse-service.ts';
import type { Submission } from './submission.ts';

/**
 * Reads a job file, TOML or JSON. `fileName` is what messages and origins call it. Throws a DocumentError with the
 * line that is wrong.
 */
export function parseJobFile(text: string, fileName: string): Promise<Submission> {
  return withExcerpt(text, fileName, () => parseJobDocument(readText(text, fileName), { origin: fileName }));
}

/** Reads the file of a named profile; otherwise as parseJobFile. */
export function parseProfileFile(text: string, fileName: string): Promise<NamedProfile> {
  return withExcerpt(text, fileName, () => parseProfileDocument(readText(text, fileName), { origin: fileName }));
}

/** Reads a service file; otherwise as parseJobFile. */
export function parseServiceFile(text: string, fileName: string): Promise<Submission> {
  return withExcerpt(text, fileName, () => parseServiceDocument(readText(text, fileName), { origin: fileName }));
}

/** What `yard apply` takes. */
export type Applied =
  | { readonly kind: 'service'; readonly service: Submission }
  | { readonly kind: 'profile'; readonly profile: NamedProfile };

/** Reads a file to apply: a service where it says `[service]`, else a profile. Otherwise as parseJobFile. */
export function parseApplyFile(text: string, fileName: string): Promise<Applied> {
  return withExcerpt(text, fileName, () => {
    const document = readText(text, fileName);
    const options = { origin: fileName };
    const isService = typeof document === 'object' && document !== null && 'service' in document;
    return isService
      ? ({ kind: 'service', service: parseServiceDocument(document, options) } as const)
      : ({ kind: 'profile', profile: parseProfileDocument(document, options) } as const);
  });
}

/** The line of a file that a path names, as errors show it; null where it has none. */
export async function excerptOf(text: string, fileName: string, path: KeyPath): Promise<string | null> {
  const place = await lineOf(text, path);
  return place === null ? null : writeExcerpt(text, fileName, place);
}

/** Where in a file a path stands; null in JSON, and in text that does not parse. */
export async function lineOf(text: string, path: KeyPath): Promise<Awaited<ReturnType<typeof locateInToml>>> {
  if (isJson(text)) return null;
  try {
    return await locateInToml(text, path);
  } catch {
    // The text was read by one parser and not by the other: the message alone has to do.
    return null;
  }
}

async function withExcerpt<Result>(text: string, fileName: string, read: () => Result): Promise<Result> {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof DocumentError) || error.excerpt !== null) throw error;
    throw new DocumentError(error.refusal, error.keyPath, await excerptOf(text, fileName, error.keyPath));
  }
}

/** The document in the text. A file that starts with `{` is JSON: no TOML does. */
export function readText(text: string, fileName: string): unknown {
  checkTextSize(text, fileName);
  return isJson(text) ? readJson(text, fileName) : readToml(text, fileName);
}

function isJson(text: string): boolean {
  return /^\s*\{/.test(text);
}

function readJson(text: string, fileName: string): unknown {
  checkTextDepth(text, fileName);
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw documentError('BAD_REQUEST', `${fileName} is no JSON: ${reason}`, []);
  }
}

function readToml(text: string, fileName: string): unknown {
  try {
    // As editors of Windows end lines: no shell takes a script with them.
    return parse(text.replaceAll('\r\n', '\n'), { integersAsBigInt: 'asNeeded', maxDepth: deepestNesting });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const reason = (error.message.split('\n')[0] ?? '').replace(/^Invalid TOML document: /, '');
    const excerpt = writeExcerpt(text, fileName, {
      line: error.line,
      column: Math.max(0, error.column - 1),
      length: 1,
    });
    if (reason.includes('excessively nested')) {
      throw new DocumentError(
        refuse('TOO_DEEP', `${fileName} nests deeper than ${deepestNesting} levels`),
        [],
        excerpt,
      );
    }
    throw new DocumentError(refuse('BAD_REQUEST', `${fileName} is no TOML: ${reason}`), [], excerpt);
  }
}
