import type { FactTime } from '../job/evolve.ts';
import type { State } from '../state.ts';
import { eventMessage } from './event-message.ts';
import type { ServiceFact } from './facts.ts';
import { type Rollout, type Service, wantedReplicas } from './service.ts';

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
      service.lost = 0;
      break;
    case 'ServiceStarted':
      want(service);
      break;
    case 'ServiceStopped':
      service.standing = 'stopped';
      service.rollout = null;
      forgetFailures(service);
      break;
    case 'ServiceCompleted':
      service.standing = 'completed';
      service.rollout = null;
      forgetFailures(service);
      break;
    case 'ServiceRemoved':
      state.services.delete(fact.service);
      break;
    case 'ReplacementDelayed':
      service.failures = fact.failures;
      service.backoff = { untilMs: fact.untilMs, reason: fact.reason };
      break;
    case 'ServiceSettled':
      forgetFailures(service);
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
    lost: 0,
    rollout: null,
    served: null,
    failures: 0,
    backoff: null,
    events: [],
  };
  const before = service.revision;
  service.revision = revision.number;
  service.desired = desired;
  want(service);
  service.revisions.set(revision.number, revision);
  forgetOldRevisions(service, before);
  state.services.set(name, service);
}

/** Asked for anew: what ended for good before is wanted again. */
function want(service: Service): void {
  service.standing = 'wanted';
  service.completed = 0;
  service.lost = 0;
  forgetFailures(service);
}

function forgetFailures(service: Service): void {
  service.failures = 0;
  service.backoff = null;
}

/** The newest few are kept to go back to, and whatever a replica still runs on or a rollout may go back to. */
function forgetOldRevisions(service: Service, before: number): void {
  const used = new Set([...service.replicas.values()].map((replica) => replica.revision));
  used.add(before).add(service.served ?? before);
  const numbers = [...service.revisions.keys()].sort((a, b) => b - a);
  for (const number of numbers.slice(revisionsKept)) if (!used.has(number)) service.revisions.delete(number);
}

type RolloutFact = Extract<ServiceFact, { kind: `Rollout${string}` }>;

function moveRollout(service: Service, fact: RolloutFact): Rollout | null {
  const { rollout } = service;
  switch (fact.kind) {
    case 'RolloutStarted':
      service.revision = fact.to;
      forgetFailures(service);
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
      forgetFailures(service);
      return rollout && { ...rollout, state: 'progressing', deadlineAtMs: fact.deadlineAtMs, reason: null };
    case 'RolloutEnded':
      if (rollout !== null && fact.state === 'rolled-back') {
        service.revision = rollout.from;
        forgetFailures(service);
      }
      return rollout && endRollout(service, rollout, fact);
  }
}

function endRollout(service: Service, rollout: Rollout, fact: Extract<RolloutFact, { kind: 'RolloutEnded' }>): Rollout {
  const { state, reason } = fact;
  const updated = state === 'done' ? wantedReplicas(service) : rollout.updated;
  if (state === 'done' && updated > 0) service.served = rollout.to;
  return { ...rollout, state, updated, deadlineAtMs: null, reason };
}

function dismiss(service: Service, job: string): void {
  const replica = service.replicas.get(job);
  if (replica === undefined) return;
  replica.stopping = true;
  replica.dismissed = true;
  replica.readySinceMs = null;
}

function noteEvent(service: Service, fact: ServiceFact, time: FactTime): void {
  const message = eventMessage(fact, time.nowMs);
  if (message === null) return;
  service.events = [{ atMs: time.atMs, message }, ...service.events].slice(0, eventsKept);
}
