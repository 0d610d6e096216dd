import { refused } from './http-refusal.ts';

/** Where a `Range: bytes=N-` begins; null for the whole, as for every other form of range, which may be passed over. */
export function readRangeStart(header: unknown, sizeBytes: number): number | null {
  const text = typeof header === 'string' ? /^bytes=(\d{1,15})-$/.exec(header)?.[1] : undefined;
  if (text === undefined) return null;
  const start = Number(text);
  if (start <= sizeBytes) return start;
  throw refused('RANGE', `the blob has ${sizeBytes} bytes; there is nothing from ${start} on`, { path: 'Range' });
}
