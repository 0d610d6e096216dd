import { RefusalError } from '../client/refusal-error.ts';
import { HostError } from '../host/files.ts';
import { DocumentError } from '../wire/document-error.ts';
import { failed, notItsOwn, usage } from './exit-code.ts';
import type { ErrorReport } from './output/output.ts';
import { UsageError } from './usage-error.ts';

/** The one place where an error becomes words. A fault that nobody foresaw keeps its cause. */
export function reportOf(error: unknown, home: string): ErrorReport {
  if (error instanceof DocumentError) return { ...error.refusal, excerpt: error.excerpt };
  if (error instanceof RefusalError) {
    const { code, message, hint, path } = error;
    return { code, message, hint, path, excerpt: null };
  }
  if (error instanceof UsageError) {
    return { code: 'USAGE', message: error.message, hint: error.hint, path: null, excerpt: null };
  }
  const hint = isFullDisk(error)
    ? 'the disk is full: make room there, then try again'
    : `yard doctor looks for what is wrong; the state lies in ${home}`;
  return { code: 'FAULT', message: chainOf(error), hint, path: null, excerpt: stackOf(error) };
}

/** 125 where the job's own code would stand, whatever is wrong; else 2 for what was typed, and 1. */
export function codeOfError(error: unknown, attached: boolean): number {
  if (attached) return notItsOwn;
  return error instanceof UsageError ? usage : failed;
}

function isFullDisk(error: unknown): boolean {
  return error instanceof HostError && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}

function chainOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : chainOf(error.cause);
  return error.message.includes(cause) ? error.message : `${error.message}: ${cause}`;
}

/** Where in our own code it happened, for a report of the fault; a system error says enough by itself. */
function stackOf(error: unknown): string | null {
  if (!(error instanceof Error) || 'code' in error) return null;
  const lines = (error.stack ?? '').split('\n').filter((line) => line.startsWith('    at '));
  return lines.length === 0
    ? null
    : lines
        .slice(0, 6)
        .map((line) => line.trim())
        .join('\n');
}
