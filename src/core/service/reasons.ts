import { whyWaiting } from '../placement/waiting.ts';
import type { Waiting, WaitReason } from '../reason.ts';
import type { State } from '../state.ts';
import { describeDuration } from '../units.ts';
import { isAvailable, isHeldBack, rolloutOf } from './plan.ts';
import { type Replica, type Service, wantedReplicas } from './service.ts';

/** Why fewer replicas are available than are wanted now, and how long the next one still waits (B10). */
export function stuckReason(state: State, service: Service, nowMs: number): string {
  const cause = stuckCause(state, service, nowMs);
  const { backoff } = service;
  if (backoff === null || cause !== backoff.reason || !isHeldBack(service, nowMs)) return cause;
  return `${cause}; replaced in ${describeDuration(backoff.untilMs - nowMs)}`;
}

/** The same from what tells most, without the time that it still takes: what is kept must stay true. */
export function stuckCause(state: State, service: Service, nowMs: number): string {
  const { minReadyMs } = rolloutOf(service);
  const active = [...service.replicas.values()].filter((one) => !one.stopping);
  const stuck = active.filter((one) => one.revision === service.revision && !isAvailable(one, minReadyMs, nowMs));
  for (const replica of stuck) {
    const reason = replicaReason(state, replica, nowMs);
    if (reason !== null) return reason;
  }
  if (service.backoff !== null) return service.backoff.reason;
  const settling = stuck.find((one) => one.readySinceMs !== null);
  if (settling !== undefined) {
    return `${settling.job} is ready, but not yet for ${describeDuration(minReadyMs)} without a break`;
  }
  if (stuck[0] !== undefined) return `${stuck[0].job} is starting`;
  if (active.length < wantedReplicas(service)) return vacancyReason(service);
  if (service.lost > 0) return lostReason(service);
  const [leaving] = [...service.replicas.values()].filter((one) => one.stopping);
  return leaving === undefined ? 'replicas of another revision are still needed' : leavingReason(leaving);
}

/** Why a replica is not ready; null when nobody has said. */
export function replicaReason(state: State, replica: Replica, nowMs: number): string | null {
  const job = state.jobs.get(replica.job);
  if (job === undefined || replica.readySinceMs !== null) return null;
  const waiting = whyWaiting(state, job, nowMs);
  if (waiting !== null) {
    const prefix = lacksCapacity[waiting.reason] ? 'no capacity: ' : '';
    return `${prefix}${withSubject(replica.job, waiting)}`;
  }
  if (replica.reason !== null) return `${replica.job} ${asNotReady(replica.reason)}`;
  const element = job.elements.get(0);
  const failed = element?.kind === 'live' ? element.tasks.find((task) => task.lastFailure !== null) : undefined;
  return failed === undefined ? null : `${replica.job} ${failed.lastFailure}`;
}

/** Most messages are about the job and go on from its name; that there is no node goes for all. */
function withSubject(job: string, { reason, message }: Waiting): string {
  if (reason === 'no-node') return message;
  return /^(?:needs|is|runs) /.test(message) ? `${job} ${message}` : `${job}: ${message}`;
}

/** Waiting that more or larger nodes would end. */
const lacksCapacity: Readonly<Record<WaitReason, boolean>> = {
  'no-node': true,
  'no-fit': true,
  busy: true,
  draining: true,
  'too-few-nodes': true,
  spread: true,
  quota: true,
  'array-limit': false,
  backoff: false,
  unconfirmed: false,
  'node-away': false,
  'node-lost': false,
  secret: false,
};

/** As people read it beside the replica: `not ready: startup 60 of 60, port 41873 refused`. */
export function asNotReady(reason: string): string {
  return reason.startsWith('not ready') ? reason : `not ready: ${reason}`;
}

/** Nothing is started although something lacks: the room is taken by what has not ended. */
function vacancyReason(service: Service): string {
  const [leaving] = [...service.replicas.values()].filter((one) => one.stopping);
  return leaving === undefined ? 'the rollout is halted' : leavingReason(leaving);
}

function leavingReason(replica: Replica): string {
  return replica.ended
    ? `${replica.job} has ended, but processes of it may still run`
    : `${replica.job} has not ended yet`;
}

export function lostReason({ lost }: Service): string {
  const what = lost === 1 ? '1 replica was' : `${lost} replicas were`;
  return `${what} lost with the node, and the profile says onNodeLoss = "fail"`;
}
