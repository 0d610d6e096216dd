import { type Refusal, refuse } from '../core/refusal.ts';
import { HostError } from '../host/files.ts';

/** The refusal a failed commit means to the one who asked; null when it is a fault to be thrown as it is. */
export function commitRefusal(error: unknown): Refusal | null {
  if (!(error instanceof HostError)) return null;
  if (error.code === 'ENOSPC') {
    return refuse('STORE_FULL', 'the disk that holds the log is full; nothing was applied', {
      hint: 'make room, then try again',
    });
  }
  if (error.code === 'READ_ONLY') return refuse('READ_ONLY', error.message, { hint: 'upgrade this yard' });
  return null;
}
