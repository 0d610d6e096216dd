import { BlobFault } from '../blobs/blob-fault.ts';
import { RefusalError } from '../client/refusal-error.ts';
import { type Refusal, type RefusalCode, refusals, refuse } from '../core/refusal.ts';
import { HostError } from '../host/files.ts';
import { DocumentError } from '../wire/document-error.ts';

/** What an error of any kind is answered with: `{ error: { code, message, hint, path } }`. */
export interface ErrorAnswer {
  readonly status: number;
  readonly body: {
    readonly error: {
      readonly code: RefusalCode;
      readonly message: string;
      readonly hint: string | null;
      readonly path: string | null;
    };
  };
}

/** The refusal that an error stands for; null for a fault, of which nobody outside is told more than an id. */
export function refusalOf(error: unknown): Refusal | null {
  if (error instanceof RefusalError) {
    return refuse(error.code, error.message, { hint: error.hint, path: error.path });
  }
  if (error instanceof DocumentError) return error.refusal;
  if (error instanceof HostError && (error.code === 'ENOSPC' || error.code === 'EDQUOT')) {
    return refuse('STORE_FULL', 'the disk of the server is full; nothing was applied', {
      hint: 'make room there, then try again',
    });
  }
  if (error instanceof BlobFault && (error.code === 'HASH_MISMATCH' || error.code === 'BAD_HASH')) {
    return refuse('BAD_VALUE', error.message, { path: 'hash' });
  }
  return null;
}

export function answerOf({ code, message, hint, path }: Refusal): ErrorAnswer {
  return { status: refusals[code].status, body: { error: { code, message, hint, path } } };
}

/** A fault: its cause is in the server's log under this id, and nowhere else. */
export function faultAnswer(id: string): ErrorAnswer {
  return answerOf(
    refuse('INTERNAL', `the server failed at this; its log has the cause under ${id}`, {
      hint: 'try again; if it stays, ask who runs the server',
    }),
  );
}

export function refused(
  code: RefusalCode,
  message: string,
  more: { hint?: string | null; path?: string | null } = {},
): RefusalError {
  return new RefusalError(refuse(code, message, more));
}

/** A refusal that holds for `seconds`: its answer says Retry-After. */
export class RefusedForNow extends RefusalError {
  readonly seconds: number;
  constructor(refusal: Refusal, seconds: number) {
    super(refusal);
    this.seconds = seconds;
  }
}
