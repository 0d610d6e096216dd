import type { Fact } from './fact.ts';
import {
  type Element,
  elementCount,
  findTask,
  type Job,
  type JobId,
  type LiveElement,
  parseTaskKey,
} from './job/job.ts';
import { nextAttemptAtMs } from './job/retry.ts';
import { isSuccess, type Outcome } from './reason.ts';
import { followReplicaEnd } from './service/follow.ts';
import { dismissal } from './service/replica-facts.ts';
import { isHeld, type State } from './state.ts';

/**
 * What follows from a fact that has just been folded. Rules look at one fact, are applied in the same step, and each
 * returns facts that make its own condition false: that bounds them.
 */
export function follow(state: State, fact: Fact, nowMs: number): readonly Fact[] {
  switch (fact.kind) {
    case 'AttemptPlaced':
      return readyTasks(state, fact);
    case 'NodeJoined':
      return readyClaims(state, fact.node);
    case 'NodeFault':
      return [...drained(state, fact), ...endedAttempts(state.jobs.get(fact.job), [fact.index], nowMs)];
    case 'OutputsCollected':
    case 'NodeLost':
    case 'JobExited':
    case 'SetupFailed':
    case 'TimedOut':
    case 'GaveUp':
    case 'Evicted':
      return endedAttempts(state.jobs.get(fact.job), [fact.index], nowMs);
    case 'OperatorStop':
      return [...endedAttempts(state.jobs.get(fact.job), null, nowMs), ...endedJob(state.jobs.get(fact.job))];
    case 'AttemptEnded':
    case 'Unschedulable':
      return endedJob(state.jobs.get(fact.job));
    case 'JobEnded':
      return [...delayedReplacement(state, fact.job, nowMs), ...archived(state, fact.job)];
    case 'ServiceScaled':
      return !state.services.has(fact.service)
        ? []
        : fact.remove.flatMap((job) => dismissal(state, fact.service, job, `chosen by ${fact.by}`));
    case 'AllocationReleased': {
      return archived(state, parseTaskKey(fact.task)?.job ?? '');
    }
    default:
      return [];
  }
}

/** A task on a node that is up need not wait for it to become ready. */
function readyTasks(state: State, fact: Extract<Fact, { kind: 'AttemptPlaced' }>): readonly Fact[] {
  const { job, index, attempt } = fact;
  return fact.tasks.flatMap((task, rank) =>
    state.nodes.get(task.node)?.presence.kind === 'up'
      ? [{ kind: 'NodeReady' as const, job, index, rank, attempt }]
      : [],
  );
}

/** Tasks that claimed a node and waited for it (S2). */
function readyClaims(state: State, node: string): readonly Fact[] {
  const facts: Fact[] = [];
  for (const job of state.jobs.values()) {
    for (const [index, element] of job.elements) {
      if (element.kind !== 'live') continue;
      for (const task of element.tasks) {
        if (task.node !== node || task.step !== 'claimed') continue;
        facts.push({ kind: 'NodeReady', job: job.id, index, rank: task.rank, attempt: element.attempt });
      }
    }
  }
  return facts;
}

/** A node on which something cannot be killed takes no more work until a person has looked at it. */
function drained(state: State, fact: Extract<Fact, { kind: 'NodeFault' }>): readonly Fact[] {
  const name = findTask(state.jobs.get(fact.job), fact)?.task.node ?? '';
  const node = state.nodes.get(name);
  if (!fact.held || node === undefined || node.drain !== null) return [];
  const reason = `a process of ${fact.job} cannot be killed`;
  return [{ kind: 'NodeDrained', node: name, reason, by: 'runyard', deadlineAtMs: null }];
}

/** Attempts all of whose tasks have ended: each goes on to its next attempt, or ends for good. */
function endedAttempts(job: Job | undefined, indices: readonly number[] | null, nowMs: number): readonly Fact[] {
  if (job === undefined) return [];
  const facts: Fact[] = [];
  for (const index of indices ?? job.elements.keys()) {
    const element = job.elements.get(index);
    if (!isOver(element)) continue;
    const { attempt, verdict: outcome } = element;
    const retryAtMs = retryAt(job, element, outcome, nowMs);
    facts.push({ kind: 'AttemptEnded', job: job.id, index, attempt, outcome, retryAtMs });
  }
  return facts;
}

/** A person who asked for the next attempt of what waited for its node gets it, whatever the profile allows. */
function retryAt(job: Job, element: LiveElement, outcome: Outcome, nowMs: number): number | null {
  if (element.stopAsked) return null;
  if (element.retryAsked && outcome.reason === 'node-lost') return nowMs;
  return nextAttemptAtMs(job, element.attempt, outcome, nowMs);
}

function isOver(element: Element | undefined): element is LiveElement & { verdict: Outcome } {
  return element?.kind === 'live' && element.verdict !== null && element.tasks.every((task) => task.step === 'ended');
}

function endedJob(job: Job | undefined): readonly Fact[] {
  if (job === undefined || job.outcome !== null || job.live > 0 || job.completed + job.failed < elementCount(job))
    return [];
  return [{ kind: 'JobEnded', job: job.id, outcome: jobOutcome(job) }];
}

/** A job's outcome is its one element's; an array ends well when every element did, else as its first failed index. */
function jobOutcome(job: Job): Outcome {
  const ended = [...job.elements]
    .sort(([a], [b]) => a - b)
    .flatMap(([, element]) => (element.kind === 'ended' ? [element] : []));
  const failed = ended.find((element) => !isSuccess(element.outcome));
  const count = elementCount(job);
  if (job.settings.array === null)
    return (failed ?? ended[0])?.outcome ?? { reason: 'exit', exitCode: 0, signal: null, message: 'nothing to do' };
  if (failed === undefined) return { reason: 'exit', exitCode: 0, signal: null, message: `all ${count} completed` };
  return { ...failed.outcome, message: `${job.failed} of ${count} failed; the first: ${failed.outcome.message}` };
}

/** A job is kept until every attempt of it is confirmed gone. */
function archived(state: State, id: JobId): readonly Fact[] {
  const job = state.jobs.get(id);
  if (job === undefined || job.outcome === null || job.live > 0 || isHeld(state.derived.held, `${id}.`)) return [];
  return [{ kind: 'JobArchived', job: id }];
}

function delayedReplacement(state: State, id: JobId, nowMs: number): readonly Fact[] {
  const job = state.jobs.get(id);
  return job === undefined ? [] : followReplicaEnd(state, job, nowMs);
}
