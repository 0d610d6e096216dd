import { RefusalError } from '../client/refusal-error.ts';
import type { Refusal } from '../core/refusal.ts';
import { HostError } from '../host/files.ts';

/** A refusal, thrown to whoever asked on behalf of a program. */
export class Refused extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(`${refusal.code}: ${refusal.message}`);
    this.name = 'Refused';
    this.refusal = refusal;
  }
}

/** Codes of the system that the simulator's faults bring about. */
const faultCodes: ReadonlySet<string> = new Set(['ENOSPC', 'EIO']);
/** Refusals that these faults bring about. */
const faultRefusals: ReadonlySet<string> = new Set(['STORE_FULL', 'UNREACHABLE']);

/** Whether a fault of the outside explains that a program fails with this error; anything else is a bug. */
export function describeFault(error: unknown): { readonly isExpected: boolean; readonly text: string } {
  const isExpected =
    (error instanceof HostError && faultCodes.has(error.code)) ||
    (error instanceof Refused && faultRefusals.has(error.refusal.code)) ||
    (error instanceof RefusalError && faultRefusals.has(error.code));
  return { isExpected, text: isExpected && error instanceof Error ? error.message : textOf(error) };
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.stack ?? `${error.name}: ${error.message}`;
}
