import * as z from 'zod';
import { type RolloutState, rolloutMoves, type ServiceState, serviceStates } from '../../core/service/service.ts';
import type { ReplicaView, RolloutView, ServiceView } from '../../core/service/view.ts';
import { isoTime, jobView } from './job-views.ts';
import { keysOf } from './keys-of.ts';

/** Services as the API answers with them. */

const count = z.int().min(0);
const text = z.string();

const replicaView = jobView.extend({
  revision: count,
  ready: z.boolean(),
  stopping: z.boolean(),
  reason: text.nullable(),
}) satisfies z.ZodType<ReplicaView>;

const rolloutView = z.object({
  from: count,
  to: count,
  state: z.enum(keysOf<RolloutState>(rolloutMoves)),
  updated: count,
  ready: count,
  deadlineAt: isoTime.nullable(),
  reason: text.nullable(),
}) satisfies z.ZodType<RolloutView>;

export const endpointView = z.object({ replica: count, endpoint: text });

export const serviceView = z.object({
  name: text,
  project: text,
  queue: text,
  owner: text,
  profile: text.nullable(),
  revision: count,
  revisions: z.array(count),
  desired: count,
  completed: count,
  running: count,
  ready: count,
  state: z.enum(keysOf<ServiceState>(serviceStates)),
  reason: text.nullable(),
  rollout: rolloutView.nullable(),
  replicas: z.array(replicaView),
  endpoints: z.array(endpointView),
  events: z.array(z.object({ at: isoTime, message: text })),
  spec: z.unknown(),
}) satisfies z.ZodType<ServiceView>;

export const revisionView = z.object({
  revision: count,
  current: z.boolean(),
  profile: text.nullable(),
  replicas: count,
  spec: z.unknown(),
});
