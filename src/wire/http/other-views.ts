import * as z from 'zod';
import type { Gpu } from '../../core/node/node.ts';
import { nodeStates } from '../../core/node/view.ts';
import { isoTime, outputView, taskKey, waiting } from './job-views.ts';
import { keysOf } from './keys-of.ts';

/** The rest of what the API answers with. */

const count = z.int().min(0);
const text = z.string();

const gpu = z.object({ uuid: text, index: count, name: text, memoryMiB: count }) satisfies z.ZodType<Gpu>;

export const nodeView = z.object({
  id: text,
  state: z.enum(keysOf<keyof typeof nodeStates>(nodeStates)),
  reason: text.nullable(),
  leased: z.boolean(),
  drainDeadlineAt: isoTime.nullable(),
  cpus: z.number().min(0),
  memoryMiB: count,
  gpus: z.array(gpu),
  labels: z.record(text, text),
  free: z.object({ cpus: z.number(), memoryMiB: z.int(), gpus: count }),
  tasks: z.array(text),
  advertise: text,
  platform: text,
  version: text,
  agentRunning: z.boolean(),
  heardAt: isoTime.nullable(),
});

export const eventView = z.object({
  seq: count,
  at: isoTime,
  kind: text,
  by: text.nullable(),
  job: text.nullable(),
  node: text.nullable(),
  service: text.nullable(),
  message: text,
  fact: z.unknown(),
});

export const settingView = z.object({ key: text, value: text, origin: text });

export const explanation = z.object({ sentence: text, settings: z.array(settingView) });

/** Beside the explanation: why a job that has its node does not start there. */
export const jobExplanation = explanation.extend({ heldUp: text.nullable() });

export const preview = z.object({
  settings: z.array(settingView),
  spec: z.unknown(),
  node: text.nullable(),
  waiting: waiting.nullable(),
});

/** A piece of a log; `bytes` in base64, since what a job writes need not be text. */
export const logPiece = z.object({
  task: taskKey,
  step: z.enum(['setup', 'run']),
  stream: z.enum(['stdout', 'stderr']),
  atMs: z.number(),
  bytes: z.base64(),
});

/** Outputs of one task: what became of each, and the blob that lists what there is to land. */
export const taskOutputs = z.object({
  place: count.nullable(),
  outputs: z.array(outputView),
  manifest: text.nullable(),
});

export const profileView = z.object({ name: text, revision: count, source: z.unknown() });

export const pruneReport = z.object({ jobs: count, blobs: count, attempts: count, freedBytes: count });

export const health = z.object({
  status: z.literal('ok'),
  version: text,
  /** Changes when the log is restored. */
  incarnation: text,
  /** How people sign in; null where only tokens are taken. */
  oidc: z.object({ issuer: text, clientId: text }).nullable(),
});

export const apiError = z.object({
  error: z.object({ code: text, message: text, hint: text.nullable(), path: text.nullable() }),
});
