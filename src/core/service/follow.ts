import type { Fact } from '../fact.ts';
import type { Job } from '../job/job.ts';
import type { State } from '../state.ts';
import { stablePeriodMs } from '../supervision/policy.ts';
import { backoffMs } from '../supervision/restart.ts';
import { endsWell, isLostForGood } from './evolve-replica.ts';
import { isAvailable, type Plan, planService } from './plan.ts';
import { stuckCause } from './reasons.ts';
import { dismissal, submissions } from './replica-facts.ts';
import { type Service, wantedReplicas } from './service.ts';

/** What a rule needs beside the state: the time, and fresh random ids. */
export interface RuleContext {
  readonly nowMs: number;
  /** A fresh job id for this name. */
  readonly drawId: (name: string) => string;
}

/** What follows for a service from a fact about it or about one of its replicas (X23). Each fact makes its own condition false. */
export function followService(state: State, name: string, context: RuleContext): readonly Fact[] {
  const service = state.services.get(name);
  if (service === undefined) return [];
  const settled = settle(service, context.nowMs);
  const plan = planService(service, context.nowMs);
  const ended = endRollout(state, service, plan, context.nowMs);
  if (ended.length > 0) return [...settled, ...ended];
  const facts: Fact[] = [...settled, ...advanceRollout(service, plan, context.nowMs)];
  for (const { job, reason } of plan.dismiss) facts.push(...dismissal(state, name, job, reason));
  facts.push(...submissions(service, plan.start, context.drawId));
  if (isComplete(service)) facts.push({ kind: 'ServiceCompleted', service: name });
  return facts;
}

/**
 * What follows when a replica's job has ended: how long its replacement waits (X23). One that was stopped is replaced
 * at once, and so is the first that its node failed; whatever goes on failing waits longer each time.
 */
export function followReplicaEnd(state: State, job: Job, nowMs: number): readonly Fact[] {
  const service = job.service === null ? undefined : state.services.get(job.service.name);
  const { outcome } = job;
  if (service === undefined || outcome === null || service.standing !== 'wanted') return [];
  if (!service.replicas.has(job.id) || outcome.reason === 'stopped') return [];
  if (endsWell(job, outcome) || isLostForGood(job, outcome)) return [];
  // A node takes many replicas with it at once: that is one failure, and delays what is delayed already no further.
  const isDelayed = service.failures > 0 && service.backoff !== null && service.backoff.untilMs >= nowMs;
  if (outcome.reason === 'node-lost' && isDelayed) return [];
  const failures = service.failures + 1;
  const isNodeFailure = outcome.reason === 'node-lost' || outcome.reason === 'node-fault';
  const delayMs =
    isNodeFailure && failures === 1 ? 0 : backoffMs(job.settings.restart, failures, `${service.name}.${failures}`);
  const reason = `${job.id} ended: ${outcome.message}`;
  return [{ kind: 'ReplacementDelayed', service: service.name, failures, untilMs: nowMs + delayMs, reason }];
}

/** Log time of the next thing after `seenMs` that happens to the service by itself; null when nothing will. */
export function nextServiceDueMs(service: Service, seenMs: number): number | null {
  const due: number[] = [];
  const { rollout, backoff, failures } = service;
  if (rollout?.deadlineAtMs != null) due.push(rollout.deadlineAtMs);
  if (backoff !== null) due.push(backoff.untilMs);
  const minReadyMs = service.revisions.get(service.revision)?.settings.rollout.minReadyMs ?? 0;
  for (const { readySinceMs } of service.replicas.values()) {
    if (readySinceMs === null) continue;
    if (rollout !== null) due.push(readySinceMs + minReadyMs);
    if (failures > 0) due.push(readySinceMs + stablePeriodMs);
  }
  const ahead = due.filter((dueMs) => dueMs > seenMs);
  return ahead.length === 0 ? null : Math.min(...ahead);
}

/**
 * Failures are forgotten once as many replicas as are wanted have been ready for the stable period. In a rollout only
 * those of the new revision count: that the old one is fine says nothing about the one that fails.
 */
function settle(service: Service, nowMs: number): readonly Fact[] {
  if (service.failures === 0) return [];
  const isHalted = service.rollout?.state === 'paused' || service.rollout?.state === 'failed';
  const stable = [...service.replicas.values()].filter(
    (one) => (isHalted || one.revision === service.revision) && isAvailable(one, stablePeriodMs, nowMs),
  );
  return stable.length >= wantedReplicas(service) ? [{ kind: 'ServiceSettled', service: service.name }] : [];
}

function endRollout(state: State, service: Service, plan: Plan, nowMs: number): readonly Fact[] {
  const { rollout, name } = service;
  if (rollout?.state !== 'progressing') return [];
  const isOverdue = rollout.deadlineAtMs !== null && nowMs >= rollout.deadlineAtMs;
  if (plan.isDone || (isOverdue && plan.isUpdated)) {
    return [{ kind: 'RolloutEnded', service: name, state: 'done', reason: null }];
  }
  if (!isOverdue) return [];
  const reason = stuckCause(state, service, nowMs);
  const { onFailure } = service.revisions.get(service.revision)?.settings.rollout ?? { onFailure: 'pause' };
  const canGoBack = onFailure === 'rollback' && rollout.from !== rollout.to && service.revisions.has(rollout.from);
  return [{ kind: 'RolloutEnded', service: name, state: canGoBack ? 'rolled-back' : 'failed', reason }];
}

/** More of the new revision than ever before are available: that is progress, and the deadline moves. */
function advanceRollout(service: Service, plan: Plan, nowMs: number): readonly Fact[] {
  const { rollout, name } = service;
  if (rollout?.state !== 'progressing' || plan.updated <= rollout.updated) return [];
  const deadlineMs = service.revisions.get(service.revision)?.settings.rollout.progressDeadlineMs ?? 0;
  return [{ kind: 'RolloutAdvanced', service: name, updated: plan.updated, deadlineAtMs: nowMs + deadlineMs }];
}

function isComplete(service: Service): boolean {
  const { standing, desired, completed, lost, replicas } = service;
  const isEmpty = [...replicas.values()].every(({ ended, away }) => ended && away);
  return standing === 'wanted' && desired > 0 && lost === 0 && completed >= desired && isEmpty;
}
