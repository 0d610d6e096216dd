import type { FactTime } from '../job/evolve.ts';
import type { Job } from '../job/job.ts';
import type { State } from '../state.ts';
import type { ServiceFact } from './facts.ts';
import type { Replica, Rollout, Service } from './service.ts';

const eventsKept = 20;
const revisionsKept = 10;

/** Folds one fact about a service. Total. */
export function evolveService(state: State, fact: ServiceFact, time: FactTime): void {
  if (fact.kind === 'ServiceApplied') apply(state, fact);
  state.derived.servicesDue.add(fact.service);
  const service = state.services.get(fact.service);
  if (service === undefined) return;
  noteEvent(service, fact, time);
  switch (fact.kind) {
    case 'ServiceApplied':
      break;
    case 'ServiceScaled':
      service.desired = fact.desired;
      break;
    case 'ServiceStarted':
      service.standing = 'wanted';
      service.completed = 0;
      break;
    case 'ServiceStopped':
      service.standing = 'stopped';
      service.rollout = null;
      service.backoff = null;
      service.failures = 0;
      break;
    case 'ServiceCompleted':
      service.standing = 'completed';
      service.rollout = null;
      break;
    case 'ServiceRemoved':
      state.services.delete(fact.service);
      break;
    case 'ReplacementDelayed':
      service.failures = fact.failures;
      service.backoff = { untilMs: fact.untilMs, reason: fact.reason };
      break;
    case 'ServiceSettled':
      service.failures = 0;
      service.backoff = null;
      break;
    case 'ReplicaDismissed':
      dismiss(service, fact.job);
      break;
    default:
      service.rollout = moveRollout(service, fact);
  }
}

function apply(state: State, fact: Extract<ServiceFact, { kind: 'ServiceApplied' }>): void {
  const { service: name, project, owner, revision, desired } = fact;
  const known = state.services.get(name);
  const service: Service = known ?? {
    name,
    project,
    owner,
    revision: revision.number,
    revisions: new Map(),
    desired,
    standing: 'wanted',
    replicas: new Map(),
    completed: 0,
    rollout: null,
    failures: 0,
    backoff: null,
    events: [],
  };
  service.revision = revision.number;
  service.desired = desired;
  service.standing = 'wanted';
  service.completed = 0;
  service.failures = 0;
  service.backoff = null;
  service.revisions.set(revision.number, revision);
  forgetOldRevisions(service);
  state.services.set(name, service);
}

/** The newest few are kept to go back to, and whatever a replica still runs on. */
function forgetOldRevisions(service: Service): void {
  const used = new Set([...service.replicas.values()].map((replica) => replica.revision));
  const numbers = [...service.revisions.keys()].sort((a, b) => b - a);
  for (const number of numbers.slice(revisionsKept)) if (!used.has(number)) service.revisions.delete(number);
}

type RolloutFact = Extract<ServiceFact, { kind: `Rollout${string}` }>;

function moveRollout(service: Service, fact: RolloutFact): Rollout | null {
  const { rollout } = service;
  switch (fact.kind) {
    case 'RolloutStarted':
      service.revision = fact.to;
      service.backoff = null;
      service.failures = 0;
      return {
        from: fact.from,
        to: fact.to,
        state: 'progressing',
        updated: 0,
        deadlineAtMs: fact.deadlineAtMs,
        reason: null,
      };
    case 'RolloutAdvanced':
      return rollout && { ...rollout, updated: fact.updated, deadlineAtMs: fact.deadlineAtMs };
    case 'RolloutPaused':
      return rollout && { ...rollout, state: 'paused', deadlineAtMs: null, reason: `paused by ${fact.by}` };
    case 'RolloutResumed':
      return rollout && { ...rollout, state: 'progressing', deadlineAtMs: fact.deadlineAtMs, reason: null };
    case 'RolloutEnded':
      if (rollout !== null && fact.state === 'rolled-back') {
        service.revision = rollout.from;
        service.backoff = null;
        service.failures = 0;
      }
      return rollout && { ...rollout, state: fact.state, deadlineAtMs: null, reason: fact.reason };
  }
}

function dismiss(service: Service, job: string): void {
  const replica = service.replicas.get(job);
  if (replica !== undefined) replica.stopping = true;
}

/** Folds what a fact about a replica's job means for its service: it came, changed its readiness, or is gone. */
export function evolveReplica(state: State, job: Job, change: 'submitted' | 'changed' | 'gone', nowMs: number): void {
  const service = job.service === null ? undefined : state.services.get(job.service.name);
  if (service === undefined || job.service === null) return;
  state.derived.servicesDue.add(service.name);
  if (change === 'gone') {
    service.replicas.delete(job.id);
    if (job.outcome?.reason === 'exit' && job.outcome.exitCode === 0 && !restartsSuccess(job)) service.completed += 1;
    return;
  }
  if (change === 'submitted') {
    const { index, revision } = job.service;
    service.replicas.set(job.id, { job: job.id, index, revision, readySinceMs: null, stopping: false, reason: null });
    return;
  }
  const replica = service.replicas.get(job.id);
  if (replica !== undefined) noteReadiness(replica, job, nowMs);
}

function restartsSuccess(job: Job): boolean {
  return job.settings.restart.policy === 'always';
}

/** A replica is ready when every task of it is; one that is being stopped is not. */
function noteReadiness(replica: Replica, job: Job, nowMs: number): void {
  const element = job.elements.get(0);
  const tasks = element?.kind === 'live' ? element.tasks : [];
  const isStopping = element?.kind === 'live' && element.verdict !== null;
  const isReady = tasks.length > 0 && !isStopping && tasks.every((task) => task.ready === true);
  replica.stopping ||= isStopping || job.outcome !== null;
  replica.readySinceMs = isReady ? (replica.readySinceMs ?? nowMs) : null;
  replica.reason = tasks.find((task) => task.ready !== true)?.notReady ?? null;
}

function noteEvent(service: Service, fact: ServiceFact, time: FactTime): void {
  const message = eventMessage(fact);
  if (message === null) return;
  service.events = [{ atMs: time.atMs, message }, ...service.events].slice(0, eventsKept);
}

function eventMessage(fact: ServiceFact): string | null {
  switch (fact.kind) {
    case 'ServiceApplied':
      return `revision ${fact.revision.number} applied by ${fact.by}`;
    case 'ServiceScaled':
      return `scaled to ${fact.desired} by ${fact.by}`;
    case 'ServiceStarted':
      return `started by ${fact.by}`;
    case 'ServiceStopped':
      return `stopped by ${fact.by}`;
    case 'ServiceCompleted':
      return 'every replica ended well';
    case 'ReplacementDelayed':
      return `replacement delayed: ${fact.reason}`;
    case 'ReplicaDismissed':
      return `${fact.job} dismissed: ${fact.reason}`;
    case 'RolloutStarted':
      return `rollout from revision ${fact.from} to ${fact.to} started`;
    case 'RolloutPaused':
      return `rollout paused by ${fact.by}`;
    case 'RolloutResumed':
      return `rollout resumed by ${fact.by}`;
    case 'RolloutEnded':
      return fact.reason === null ? `rollout ${fact.state}` : `rollout ${fact.state}: ${fact.reason}`;
    case 'RolloutAdvanced':
    case 'ServiceSettled':
    case 'ServiceRemoved':
      return null;
  }
}
