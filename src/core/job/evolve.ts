import { isSuccess, type Outcome } from '../reason.ts';
import type { Derived } from '../state.ts';
import type { JobFact, TaskFact } from './facts.ts';
import { advanceCursor, type Element, findTask, type Job, type LiveElement, stepNeeds, type Task } from './job.ts';
import { skipTo, transitions } from './lifecycle.ts';
import { verdictOf } from './verdict.ts';

/** When a batch was written: `atMs` wall clock for people, `nowMs` log time for timers. */
export interface FactTime {
  readonly atMs: number;
  readonly nowMs: number;
}

/** Folds one fact about a job. Total: a fact about something that is gone changes nothing. */
export function evolveJob(
  job: Job,
  fact: Exclude<JobFact, { kind: 'JobSubmitted' }>,
  time: FactTime,
  derived: Derived,
): void {
  switch (fact.kind) {
    case 'AttemptPlaced':
      place(job, fact);
      break;
    case 'OperatorStop':
      stop(job, fact, time);
      break;
    case 'Unschedulable':
      endUntouched(job, { reason: 'unschedulable', exitCode: null, signal: null, message: fact.message }, null, time);
      break;
    case 'AttemptEnded':
      endAttempt(job, fact, time);
      break;
    case 'RetryRequested':
      askRetry(job, fact);
      break;
    case 'Evicted':
      evict(job, fact);
      break;
    case 'JobEnded':
      job.outcome = fact.outcome;
      job.endedAtMs = time.atMs;
      break;
    case 'JobArchived':
      break;
    default:
      moveTask(job, fact, time);
  }
  derived.pending.update(job);
}

function place(job: Job, fact: Extract<JobFact, { kind: 'AttemptPlaced' }>): void {
  const before = job.elements.get(fact.index);
  const tasks = fact.tasks.map((allocation, rank) => newTask(rank, allocation));
  const lastFailure = before?.kind === 'pending' ? before.lastFailure : null;
  const { attempt } = fact;
  job.elements.set(fact.index, {
    kind: 'live',
    attempt,
    tasks,
    verdict: null,
    stop: null,
    stopAsked: false,
    retryAsked: false,
    lastFailure,
  });
  job.requeued.delete(fact.index);
  advanceCursor(job);
  job.live += 1;
}

function newTask(
  rank: number,
  allocation: { node: string; devices: readonly string[]; cpus: number; memoryMiB: number },
): Task {
  return {
    rank,
    node: allocation.node,
    devices: allocation.devices,
    cpus: allocation.cpus,
    memoryMiB: allocation.memoryMiB,
    step: 'claimed',
    begun: false,
    started: false,
    exited: false,
    port: null,
    endpoint: null,
    ready: null,
    notReady: null,
    restarts: 0,
    lastFailure: null,
    exitCode: null,
    signal: null,
    outputs: [],
    outputsManifest: null,
  };
}

/** Runs the lifecycle table for one event of one task. */
function moveTask(job: Job, fact: TaskFact, time: FactTime): void {
  const found = findTask(job, fact);
  if (found === null) return;
  const { element, task } = found;
  const transition = transitions[fact.kind];
  note(task, fact);
  if (fact.kind !== 'NodeReady') task.begun = true;
  const verdict = verdictOf(element, fact);
  if (transition.decides === 'no' || verdict === null) {
    moveTo(job, element, task, fact.kind === 'JobExited' ? 'collect' : transition.to);
  } else {
    decideVerdict(job, element, verdict, transition.stopsFirst ? job.settings.graceMs : null);
    task.step = transition.to === 'ended' ? 'ended' : skipTo('collect', stepNeeds(job), transition.stopsFirst);
  }
  if (job.startedAtMs === null) job.startedAtMs = time.atMs;
}

/** Ranks wait at `prepare` until the last of them has come. */
function moveTo(job: Job, element: LiveElement, task: Task, to: Task['step']): void {
  if (element.verdict !== null && to !== 'ended') {
    task.step = skipTo('collect', stepNeeds(job), element.stop !== null);
    return;
  }
  if (task.step === 'run' && to === 'run') return;
  if (task.step === 'prepare' && to === 'run') {
    if (element.tasks.some((peer) => peer.step !== 'prepare' || (peer !== task && peer.port === null))) return;
    for (const peer of element.tasks) peer.step = 'run';
    return;
  }
  task.step = skipTo(to, stepNeeds(job), false);
  task.started = false;
}

/** Copies what an event tells about its task. */
function note(task: Task, fact: TaskFact): void {
  switch (fact.kind) {
    case 'TaskPrepared':
      task.port = fact.port;
      task.endpoint = `${fact.address}:${fact.port}`;
      break;
    case 'JobStarted':
      task.started = true;
      task.port = fact.port ?? task.port;
      break;
    case 'EndpointOpened':
      task.endpoint = fact.endpoint;
      // A port that a stranger took is given up for another while the task goes on.
      task.port = portIn(fact.endpoint) ?? task.port;
      break;
    case 'ReadinessChanged':
      task.ready = fact.ready;
      task.notReady = fact.ready ? null : fact.reason;
      break;
    case 'Restarted':
      task.restarts = fact.restarts;
      task.lastFailure = fact.lastFailure;
      task.ready = task.ready === null ? null : false;
      task.endpoint = null;
      break;
    case 'JobExited':
    case 'SetupFailed':
      task.exitCode = fact.exitCode;
      task.signal = fact.signal;
      task.exited = true;
      break;
    case 'OutputsCollected':
      task.outputs = fact.outputs;
      task.outputsManifest = fact.manifest;
      task.exitCode ??= fact.exitCode;
      task.signal ??= fact.signal;
      break;
    default:
      break;
  }
}

function portIn(endpoint: string): number | null {
  const digits = /:(\d+)$/.exec(endpoint)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** The first cause wins; peers of a rank that decided it are stopped, and collect what they have. */
function decideVerdict(job: Job, element: LiveElement, verdict: Outcome, graceMs: number | null): void {
  if (element.verdict !== null) return;
  element.verdict = verdict;
  const mayRun = graceMs !== null || element.tasks.length > 1;
  element.stop = mayRun ? { graceMs: graceMs ?? job.settings.graceMs } : null;
  for (const task of element.tasks) {
    if (task.step === 'claimed') task.step = 'ended';
    else if (task.step !== 'ended' && task.step !== 'collect') task.step = skipTo('collect', stepNeeds(job), mayRun);
  }
}

function stop(job: Job, fact: Extract<JobFact, { kind: 'OperatorStop' }>, time: FactTime): void {
  const outcome: Outcome = { reason: 'stopped', exitCode: null, signal: null, message: fact.message };
  for (const index of fact.indices ?? job.elements.keys()) {
    const element = job.elements.get(index);
    if (element?.kind !== 'live') continue;
    element.stopAsked = true;
    if (element.verdict === null) decideVerdict(job, element, outcome, fact.graceMs);
    else if (element.stop !== null) element.stop = { graceMs: Math.min(element.stop.graceMs, fact.graceMs) };
  }
  endUntouched(job, outcome, fact.indices, time);
}

function askRetry(job: Job, fact: Extract<JobFact, { kind: 'RetryRequested' }>): void {
  const element = job.elements.get(fact.index);
  if (element === undefined || element.kind === 'ended' || element.attempt !== fact.attempt) return;
  element.retryAsked = true;
}

function evict(job: Job, fact: Extract<JobFact, { kind: 'Evicted' }>): void {
  const element = job.elements.get(fact.index);
  if (element?.kind !== 'live' || element.attempt !== fact.attempt) return;
  const outcome: Outcome = { reason: 'node-lost', exitCode: null, signal: null, message: fact.message };
  decideVerdict(job, element, outcome, job.settings.graceMs);
}

/** Ends what waits without having a task anywhere; null means all of it. */
function endUntouched(job: Job, outcome: Outcome, indices: readonly number[] | null, time: FactTime): void {
  for (const index of indices ?? [...job.requeued, ...untouched(job)]) {
    const element = job.elements.get(index);
    if (element !== undefined && element.kind !== 'pending') continue;
    job.requeued.delete(index);
    end(job, index, { attempt: element?.attempt ?? 0, tasks: element?.tasks ?? [] }, outcome, time);
  }
  advanceCursor(job);
}

function untouched(job: Job): readonly number[] {
  const all = job.indices ?? Array.from({ length: job.settings.array?.size ?? 1 }, (_, index) => index);
  return all.filter((index) => !job.elements.has(index));
}

function endAttempt(job: Job, fact: Extract<JobFact, { kind: 'AttemptEnded' }>, time: FactTime): void {
  const element = job.elements.get(fact.index);
  if (element?.kind !== 'live' || element.attempt !== fact.attempt) return;
  job.live -= 1;
  if (fact.retryAtMs === null) {
    end(job, fact.index, element, fact.outcome, time);
    return;
  }
  const pending: Element = {
    kind: 'pending',
    attempt: element.attempt,
    notBeforeMs: fact.retryAtMs,
    lastFailure: fact.outcome.message,
    tasks: element.tasks,
    retryAsked: element.retryAsked,
  };
  job.elements.set(fact.index, pending);
  job.requeued.add(fact.index);
}

function end(
  job: Job,
  index: number,
  last: { attempt: number; tasks: Task[] },
  outcome: Outcome,
  time: FactTime,
): void {
  job.elements.set(index, { kind: 'ended', attempt: last.attempt, outcome, tasks: last.tasks, endedAtMs: time.atMs });
  if (isSuccess(outcome)) job.completed += 1;
  else job.failed += 1;
}
