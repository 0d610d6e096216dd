import { type Refusal, type RefusalCode, refuse } from '../core/refusal.ts';

/** Where in a document: `['job', 'env', 'A']`. */
export type KeyPath = readonly (string | number)[];

/** A document that was refused: the core's refusal, and where in the document and its text. */
export class DocumentError extends Error {
  readonly refusal: Refusal;
  readonly keyPath: KeyPath;
  /** `job.toml:4  gpus = 1` and the carets below it; null where the text is not at hand. */
  readonly excerpt: string | null;

  constructor(refusal: Refusal, keyPath: KeyPath, excerpt: string | null = null) {
    super(refusal.message);
    this.name = 'DocumentError';
    this.refusal = refusal;
    this.keyPath = keyPath;
    this.excerpt = excerpt;
  }

  get code(): RefusalCode {
    return this.refusal.code;
  }
}

/** A DocumentError about one place. The dotted path becomes the refusal's. */
export function documentError(
  code: RefusalCode,
  message: string,
  keyPath: KeyPath,
  hint: string | null = null,
): DocumentError {
  const path = keyPath.length === 0 ? null : keyPath.join('.');
  return new DocumentError(refuse(code, message, { hint, path }), keyPath);
}

/** The way to the place that a refusal of the core names; an environment key may hold dots of its own. */
export function keyPathOf(refusal: Refusal): KeyPath {
  if (refusal.path === null) return [];
  const parts = refusal.path.split('.');
  return parts[1] === 'env' && parts.length > 3 ? ['job', 'env', parts.slice(2).join('.')] : parts;
}
