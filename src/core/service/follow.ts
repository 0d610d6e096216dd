import type { Fact } from '../fact.ts';
import type { Job } from '../job/job.ts';
import { whyWaiting } from '../placement/waiting.ts';
import type { State } from '../state.ts';
import { backoffMs } from '../supervision/restart.ts';
import { stablePeriodMs } from '../supervision/policy.ts';
import { isAvailable, planService } from './plan.ts';
import type { Replica, Service } from './service.ts';

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
  const ended = endRollout(state, service, context.nowMs);
  if (ended.length > 0) return [...settled, ...ended];
  const plan = planService(service, context.nowMs);
  const facts: Fact[] = [...settled];
  if (service.rollout?.state === 'progressing' && plan.updated > service.rollout.updated && !plan.isDone) {
    facts.push({
      kind: 'RolloutAdvanced',
      service: name,
      updated: plan.updated,
      deadlineAtMs: context.nowMs + deadlineMs(service),
    });
  }
  for (const { job, reason } of plan.dismiss) facts.push(...dismissal(state, name, job, reason));
  const indices = freeIndices(service, plan.start.length);
  plan.start.forEach((revision, position) => {
    const fact = replicaSubmitted(service, revision, indices[position] ?? 0, context);
    if (fact !== null) facts.push(fact);
  });
  if (isComplete(service)) facts.push({ kind: 'ServiceCompleted', service: name });
  return facts;
}

/** What follows when a replica's job has ended: how long its replacement waits (X23). */
export function followReplicaEnd(state: State, job: Job, nowMs: number): readonly Fact[] {
  const service = job.service === null ? undefined : state.services.get(job.service.name);
  const outcome = job.outcome;
  if (service === undefined || outcome === null || service.standing !== 'wanted') return [];
  const isFault = outcome.reason === 'node-lost' || outcome.reason === 'node-fault' || outcome.reason === 'stopped';
  const isSuccess = outcome.reason === 'exit' && outcome.exitCode === 0;
  if (isFault || isSuccess) return [];
  const failures = service.failures + 1;
  const { restart } = job.settings;
  const delayMs = backoffMs(restart, failures, `${service.name}.${failures}`);
  const reason = `${job.id} ended: ${outcome.message}`;
  return [{ kind: 'ReplacementDelayed', service: service.name, failures, untilMs: nowMs + delayMs, reason }];
}

/** Log time of the next thing after `seenMs` that happens to the service by itself; null when nothing will. */
export function nextServiceDueMs(service: Service, seenMs: number): number | null {
  const due: number[] = [];
  const { rollout, backoff } = service;
  if (rollout?.deadlineAtMs != null && rollout.deadlineAtMs > seenMs) due.push(rollout.deadlineAtMs);
  if (backoff !== null && backoff.untilMs > seenMs) due.push(backoff.untilMs);
  const minReadyMs = service.revisions.get(service.revision)?.settings.rollout.minReadyMs ?? 0;
  for (const replica of service.replicas.values()) {
    if (replica.readySinceMs === null) continue;
    const availableMs = replica.readySinceMs + minReadyMs;
    if (rollout?.state === 'progressing' && availableMs > seenMs) due.push(availableMs);
    const settledMs = replica.readySinceMs + stablePeriodMs;
    if (service.failures > 0 && settledMs > seenMs) due.push(settledMs);
  }
  return due.length === 0 ? null : Math.min(...due);
}

/** Failures are forgotten once every replica wanted has been ready for the stable period. */
function settle(service: Service, nowMs: number): readonly Fact[] {
  if (service.failures === 0) return [];
  const stable = [...service.replicas.values()].filter((replica) => isAvailable(replica, stablePeriodMs, nowMs)).length;
  return stable >= service.desired - service.completed ? [{ kind: 'ServiceSettled', service: service.name }] : [];
}

function endRollout(state: State, service: Service, nowMs: number): readonly Fact[] {
  const { rollout, name } = service;
  if (rollout?.state !== 'progressing') return [];
  const plan = planService(service, nowMs);
  if (plan.isDone) return [{ kind: 'RolloutEnded', service: name, state: 'done', reason: null }];
  if (rollout.deadlineAtMs === null || nowMs < rollout.deadlineAtMs) return [];
  const reason = stuckReason(state, service, nowMs);
  const { onFailure } = service.revisions.get(service.revision)?.settings.rollout ?? { onFailure: 'pause' };
  const canGoBack = onFailure === 'rollback' && rollout.from !== rollout.to && service.revisions.has(rollout.from);
  return [{ kind: 'RolloutEnded', service: name, state: canGoBack ? 'rolled-back' : 'failed', reason }];
}

/** Why the new revision did not become available, from the replica that tells most. */
export function stuckReason(state: State, service: Service, nowMs: number): string {
  if (service.backoff !== null) return service.backoff.reason;
  const fresh = [...service.replicas.values()].filter((one) => one.revision === service.revision && !one.stopping);
  const minReadyMs = service.revisions.get(service.revision)?.settings.rollout.minReadyMs ?? 0;
  const stuck = fresh.filter((replica) => !isAvailable(replica, minReadyMs, nowMs));
  for (const replica of stuck) {
    const reason = replicaReason(state, replica, nowMs);
    if (reason !== null) return reason;
  }
  return stuck[0] === undefined ? 'old replicas have not ended' : `${stuck[0].job} is not ready`;
}

function replicaReason(state: State, replica: Replica, nowMs: number): string | null {
  const job = state.jobs.get(replica.job);
  if (job === undefined) return null;
  const waiting = whyWaiting(state, job, nowMs);
  if (waiting !== null) return `no capacity: ${replica.job} ${waiting.message}`;
  const element = job.elements.get(0);
  const failure =
    element?.kind === 'live' ? element.tasks.find((task) => task.lastFailure !== null)?.lastFailure : null;
  if (replica.reason !== null) return `${replica.job} ${replica.reason}`;
  return failure == null ? null : `${replica.job} ${failure}`;
}

/** A replica is told to stop, and is not counted on from then on. */
export function dismissal(state: State, service: string, id: string, reason: string): readonly Fact[] {
  const job = state.jobs.get(id);
  const dismissed: Fact = { kind: 'ReplicaDismissed', service, job: id, reason };
  if (job === undefined || job.outcome !== null) return [dismissed];
  const { graceMs } = job.settings;
  return [
    dismissed,
    { kind: 'OperatorStop', job: id, indices: null, by: 'runyard', graceMs, message: `dismissed: ${reason}` },
  ];
}

function replicaSubmitted(service: Service, number: number, index: number, context: RuleContext): Fact | null {
  const revision = service.revisions.get(number);
  if (revision === undefined) return null;
  const { spec, source, settings, origins, profile, workspace } = revision;
  return {
    kind: 'JobSubmitted',
    job: context.drawId(service.name),
    name: service.name,
    project: service.project,
    owner: service.owner,
    spec,
    source,
    settings,
    origins,
    profile,
    workspace,
    retryOf: null,
    indices: null,
    service: { name: service.name, index, revision: number },
  };
}

/** The lowest numbers that no replica has. */
function freeIndices(service: Service, count: number): readonly number[] {
  const taken = new Set([...service.replicas.values()].map(({ index }) => index));
  const free: number[] = [];
  for (let index = 0; free.length < count; index += 1) if (!taken.has(index)) free.push(index);
  return free;
}

function isComplete(service: Service): boolean {
  return (
    service.standing === 'wanted' &&
    service.desired > 0 &&
    service.completed >= service.desired &&
    service.replicas.size === 0
  );
}

function deadlineMs(service: Service): number {
  return service.revisions.get(service.revision)?.settings.rollout.progressDeadlineMs ?? 600_000;
}
