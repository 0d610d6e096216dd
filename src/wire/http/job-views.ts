import * as z from 'zod';
import type { TaskKey } from '../../core/job/job.ts';
import type { JobState, Step } from '../../core/job/lifecycle.ts';
import { jobMoves, steps } from '../../core/job/lifecycle.ts';
import type { ArrayView, JobView, OutputView, TaskView } from '../../core/job/view.ts';
import {
  type EndReason,
  endReasons,
  type Outcome,
  type Waiting,
  type WaitReason,
  waitReasons,
} from '../../core/reason.ts';
import { keysOf } from './keys-of.ts';
import { settings } from './settings.ts';

/** Jobs as the API answers with them. What a newer server adds is passed over by an older client. */

const count = z.int().min(0);
const text = z.string();
export const isoTime = z.iso.datetime();

export const taskKey = z.object({ job: text, index: count, rank: count, attempt: count }) satisfies z.ZodType<TaskKey>;

export const outcome = z.object({
  reason: z.enum(keysOf<EndReason>(endReasons)),
  exitCode: z.int().nullable(),
  signal: z.int().nullable(),
  message: text,
}) satisfies z.ZodType<Outcome>;

export const waiting = z.object({
  reason: z.enum(keysOf<WaitReason>(waitReasons)),
  message: text,
}) satisfies z.ZodType<Waiting>;

export const outputView = z.object({
  index: count.nullable(),
  path: text,
  state: z.enum(['collected', 'missing', 'refused']),
  size: z.exactOptional(count),
  why: z.exactOptional(text),
}) satisfies z.ZodType<OutputView>;

const arrayView = z.object({
  size: count,
  pending: count,
  running: count,
  completed: count,
  failed: count,
}) satisfies z.ZodType<ArrayView>;

const taskView = z.object({
  index: count.nullable(),
  rank: count,
  node: text,
  attempt: count,
  step: z.enum(steps) satisfies z.ZodType<Step>,
  devices: z.array(text),
  endpoint: text.nullable(),
  ready: z.boolean().nullable(),
  notReady: text.nullable(),
  restarts: count,
  lastFailure: text.nullable(),
  exitCode: z.int().nullable(),
  signal: z.int().nullable(),
  outcome: outcome.nullable(),
}) satisfies z.ZodType<TaskView>;

export const jobState = z.enum(keysOf<JobState>(jobMoves));

export const jobView = z.object({
  id: text,
  name: text,
  kind: z.enum(['job', 'service']),
  project: text,
  queue: text,
  owner: text,
  profile: text.nullable(),
  service: text.nullable(),
  replica: count.nullable(),
  retryOf: text.nullable(),
  state: jobState,
  waiting: waiting.nullable(),
  outcome: outcome.nullable(),
  attempt: count,
  submittedAt: isoTime,
  startedAt: isoTime.nullable(),
  endedAt: isoTime.nullable(),
  spec: z.unknown(),
  settings,
  origins: z.record(text, text),
  array: arrayView.nullable(),
  tasks: z.array(taskView),
  outputs: z.array(outputView),
}) satisfies z.ZodType<JobView>;
