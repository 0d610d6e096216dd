import { evolveAccess } from './access/evolve.ts';
import { isAccessFact } from './access/facts.ts';
import type { Fact } from './fact.ts';
import { evolveJob, type FactTime } from './job/evolve.ts';
import type { JobFact } from './job/facts.ts';
import { findTask, type Job, parseTaskKey, taskKeyText } from './job/job.ts';
import { evolveNode } from './node/evolve.ts';
import { noteLoss } from './node/loss.ts';
import { evolveSecret } from './secrets/evolve.ts';
import { isSecretFact } from './secrets/facts.ts';
import { evolveService } from './service/evolve.ts';
import { evolveReplica, type ReplicaChange } from './service/evolve-replica.ts';
import { isServiceFact } from './service/facts.ts';
import type { State } from './state.ts';
import { charge } from './usage/charge.ts';

/** Folds one fact into the state, in place. The only way state ever changes; total, and never refuses. */
export function evolve(state: State, fact: Fact, time: FactTime): void {
  if (isServiceFact(fact)) {
    evolveService(state, fact, time);
    return;
  }
  if (isAccessFact(fact)) {
    evolveAccess(state, fact, time.nowMs);
    return;
  }
  if (isSecretFact(fact)) {
    evolveSecret(state, fact, time);
    return;
  }
  switch (fact.kind) {
    case 'NodeJoined':
    case 'NodeLeft':
    case 'NodeSuspected':
    case 'NodeResponded':
    case 'NodeDeclaredLost':
    case 'LossHeld':
    case 'LossReleased':
    case 'NodeDrained':
    case 'NodeResumed':
    case 'NodeRemoved':
    case 'AllocationReleased':
    case 'NodeSecretsChanged':
      evolveNode(state, fact, time.nowMs);
      if ('node' in fact) touchReplicas(state, fact.node, time.nowMs);
      if (fact.kind === 'NodeRemoved') state.access.nodeKeys.delete(fact.node);
      return;
    case 'ProfileApplied':
      state.profiles.set(fact.name, {
        name: fact.name,
        revision: fact.revision,
        values: fact.values,
        source: fact.source,
      });
      return;
    case 'JobSubmitted':
      submit(state, fact, time);
      return;
    default:
      evolveExisting(state, fact, time);
  }
}

function submit(state: State, fact: Extract<JobFact, { kind: 'JobSubmitted' }>, time: FactTime): void {
  const { kind: _kind, job: id, ...given } = fact;
  const job: Job = {
    id,
    ...given,
    order: state.submitted,
    submittedAtMs: time.atMs,
    cursor: 0,
    elements: new Map(),
    requeued: new Set(),
    live: 0,
    completed: 0,
    failed: 0,
    startedAtMs: null,
    endedAtMs: null,
    outcome: null,
  };
  state.submitted += 1;
  state.jobs.set(id, job);
  state.derived.pending.update(job);
  state.derived.placementDue = true;
  if (job.service !== null) evolveReplica(state, job, 'submitted', time.nowMs);
}

function evolveExisting(state: State, fact: Exclude<JobFact, { kind: 'JobSubmitted' }>, time: FactTime): void {
  const job = state.jobs.get(fact.job);
  if (job === undefined) return;
  if (fact.kind === 'AttemptPlaced') allocate(state, fact, time.nowMs);
  if ((fact.kind === 'NodeFault' || fact.kind === 'NodeLost') && fact.held) hold(state, job, fact, time.nowMs);
  if (fact.kind === 'AttemptEnded') free(state, job, fact, time.nowMs);
  evolveJob(job, fact, time, state.derived);
  noteLosses(state, fact);
  if (opensPlacement.has(fact.kind)) state.derived.placementDue = true;
  if (job.service !== null) evolveReplica(state, job, replicaChange(fact), time.nowMs);
  if (fact.kind === 'JobArchived') state.jobs.delete(job.id);
}

function noteLosses(state: State, fact: Exclude<JobFact, { kind: 'JobSubmitted' }>): void {
  if ('index' in fact) noteLoss(state, fact.job, fact.index);
  if (fact.kind !== 'OperatorStop') return;
  const indices = fact.indices ?? state.jobs.get(fact.job)?.elements.keys() ?? [];
  for (const index of indices) noteLoss(state, fact.job, index);
}

const opensPlacement: ReadonlySet<Fact['kind']> = new Set(['AttemptEnded', 'OperatorStop', 'RetryRequested']);

function replicaChange(fact: JobFact): ReplicaChange {
  if (fact.kind === 'JobArchived') return 'gone';
  return fact.kind === 'NodeLost' && fact.held ? 'lost' : 'changed';
}

function allocate(state: State, fact: Extract<JobFact, { kind: 'AttemptPlaced' }>, nowMs: number): void {
  fact.tasks.forEach((task, rank) => {
    const key = taskKeyText({ job: fact.job, index: fact.index, rank, attempt: fact.attempt });
    const { cpus, memoryMiB, devices } = task;
    state.nodes.get(task.node)?.allocations.set(key, { cpus, memoryMiB, devices, held: false, sinceMs: nowMs });
    state.derived.free.delete(task.node);
  });
}

/** Replicas on the node are ready no more when it is lost, ready again when it is heard, and move away from a drain. */
function touchReplicas(state: State, node: string, nowMs: number): void {
  for (const task of state.nodes.get(node)?.allocations.keys() ?? []) {
    const job = state.jobs.get(parseTaskKey(task)?.job ?? '');
    if (job !== undefined && job.service !== null) evolveReplica(state, job, 'changed', nowMs);
  }
}

/** A fault that leaves processes behind: what they were given stays taken, whatever becomes of the job. */
function hold(state: State, job: Job, fact: Extract<JobFact, { kind: 'NodeFault' | 'NodeLost' }>, nowMs: number): void {
  const task = findTask(job, fact)?.task;
  const node = task === undefined ? undefined : state.nodes.get(task.node);
  const allocation = node?.allocations.get(taskKeyText(fact));
  if (node === undefined || allocation === undefined) return;
  charge(state, taskKeyText(fact), allocation, nowMs);
  node.allocations.set(taskKeyText(fact), { ...allocation, held: true });
  state.derived.held.add(taskKeyText(fact));
}

function free(state: State, job: Job, fact: Extract<JobFact, { kind: 'AttemptEnded' }>, nowMs: number): void {
  const element = job.elements.get(fact.index);
  if (element?.kind !== 'live' || element.attempt !== fact.attempt) return;
  for (const task of element.tasks) {
    const key = taskKeyText({ job: job.id, index: fact.index, rank: task.rank, attempt: fact.attempt });
    const allocations = state.nodes.get(task.node)?.allocations;
    const allocation = allocations?.get(key);
    if (allocation?.held === false) {
      charge(state, key, allocation, nowMs);
      allocations?.delete(key);
    }
    state.derived.free.delete(task.node);
  }
}
