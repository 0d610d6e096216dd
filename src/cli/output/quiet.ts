import type { Output } from './output.ts';
import { createPlainOutput } from './plain.ts';
import type { Streams } from './streams.ts';

/** The answer, the job's own output and errors; nothing else. */
export function createQuietOutput(streams: Streams): Output {
  return { ...createPlainOutput(streams), kind: 'quiet', status: () => {}, note: () => {} };
}
