import * as z from 'zod';
import type { TaskKey } from '../core/job/job.ts';
import { execRequest } from './exec-protocol.ts';

const key = z.strictObject({
  job: z.string(),
  index: z.int(),
  rank: z.int(),
  attempt: z.int(),
}) satisfies z.ZodType<TaskKey>;

/** What the server opens a stream to an agent for. */
export const streamPurpose = z.discriminatedUnion('kind', [
  /** A command beside a task; the stream carries what the client's own socket does (exec-protocol.ts). */
  z.object({ kind: z.literal('exec'), key, start: execRequest.options[0] }),
  /** What there is of the outputs of a live task: brought into the store, and answered with one message. */
  z.object({ kind: z.literal('outputs'), key }),
]);
export type StreamPurpose = z.output<typeof streamPurpose>;

/** The answer to `outputs`. */
export const liveOutputs = z.object({
  outputs: z.array(
    z.object({
      path: z.string(),
      state: z.enum(['collected', 'missing', 'refused']),
      sizeBytes: z.number().nullable(),
      why: z.string().nullable(),
    }),
  ),
  manifest: z.string().nullable(),
});
export type LiveOutputs = z.output<typeof liveOutputs>;
