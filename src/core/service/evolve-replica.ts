import type { Job } from '../job/job.ts';
import { isLost } from '../node/loss.ts';
import { isSuccess, type Outcome } from '../reason.ts';
import type { State } from '../state.ts';
import type { Replica, Service } from './service.ts';

/** `lost`: a task of it went with its node, and may still run there. */
export type ReplicaChange = 'submitted' | 'changed' | 'lost' | 'gone';

/**
 * Folds what a fact about a replica's job means for its service: it came, changed, or is gone. Jobs of a service of the
 * same name that was removed before are none of its replicas.
 */
export function evolveReplica(state: State, job: Job, change: ReplicaChange, nowMs: number): void {
  const service = job.service === null ? undefined : state.services.get(job.service.name);
  if (service === undefined || job.service === null) return;
  if (change === 'submitted') {
    const { index, revision } = job.service;
    service.replicas.set(job.id, {
      job: job.id,
      index,
      revision,
      readySinceMs: null,
      wasReady: false,
      stopping: false,
      dismissed: false,
      ended: false,
      moving: false,
      away: false,
      reason: null,
    });
  }
  const replica = service.replicas.get(job.id);
  if (replica === undefined) return;
  state.derived.servicesDue.add(service.name);
  if (change === 'gone') service.replicas.delete(job.id);
  if (change === 'submitted' || change === 'gone') return;
  replica.away ||= change === 'lost';
  noteReadiness(state, replica, job, nowMs);
  if (job.outcome !== null && !replica.ended) noteEnd(service, replica, job, job.outcome);
}

/**
 * A replica is ready when every task of it is; one that is being stopped is not. One that ends by itself may have
 * another attempt: it is on its way out only once a person or its service stopped it, or its job has ended.
 */
function noteReadiness(state: State, replica: Replica, job: Job, nowMs: number): void {
  const element = job.elements.get(0);
  const live = element?.kind === 'live' ? element : null;
  const tasks = live?.tasks ?? [];
  const isUp = tasks.length > 0 && tasks.every((task) => task.ready === true && !isLost(state, task.node));
  const isReady = live !== null && live.verdict === null && isUp;
  replica.stopping ||= live?.stopAsked === true || job.outcome !== null;
  replica.readySinceMs = isReady && !replica.stopping ? (replica.readySinceMs ?? nowMs) : null;
  replica.wasReady ||= replica.readySinceMs !== null;
  replica.moving = tasks.some((task) => state.nodes.get(task.node)?.drain?.deadlineAtMs != null);
  replica.reason = tasks.find((task) => task.ready !== true)?.notReady ?? null;
}

function noteEnd(service: Service, replica: Replica, job: Job, outcome: Outcome): void {
  replica.ended = true;
  if (endsWell(job, outcome)) service.completed += 1;
  else if (isLostForGood(job, outcome)) service.lost += 1;
}

/** It ended well and its policy does not restart that: it is not wanted again (X8). */
export function endsWell(job: Job, outcome: Outcome): boolean {
  return isSuccess(outcome) && job.settings.restart.policy !== 'always';
}

/** Its node failed it, and its profile says that it must not run again (X4). */
export function isLostForGood(job: Job, outcome: Outcome): boolean {
  return (outcome.reason === 'node-lost' || outcome.reason === 'node-fault') && job.settings.onNodeLoss === 'fail';
}
