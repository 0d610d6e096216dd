import type { Refusal, RefusalCode } from '../core/refusal.ts';

/** A refusal of the control plane, thrown where an SDK's user expects an error. */
export class RefusalError extends Error {
  readonly code: RefusalCode;
  readonly hint: string | null;
  readonly path: string | null;
  constructor(refusal: Refusal) {
    super(refusal.message);
    this.name = 'RefusalError';
    this.code = refusal.code;
    this.hint = refusal.hint;
    this.path = refusal.path;
  }
}
