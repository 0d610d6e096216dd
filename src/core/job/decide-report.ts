import type { NodeReport } from '../command.ts';
import type { Decision } from '../decide.ts';
import type { Fact } from '../fact.ts';
import { isRefusal, type Refusal, refuse } from '../refusal.ts';
import { secretsOfReport } from '../secrets/node-secrets.ts';
import type { State } from '../state.ts';
import type { TaskFact } from './facts.ts';
import { findTask, type Job, stepNeeds, type Task, type TaskKey, taskKeyText } from './job.ts';
import { judgeEvent, skipTo, transitions } from './lifecycle.ts';

/**
 * What a node says happened. News becomes facts, repetitions nothing; attempts that are no longer the current one are
 * answered as stale, for the agent to end. A node speaks for its own tasks only, and only its newest agent does.
 */
export function decideReport(state: State, report: NodeReport): Decision | Refusal {
  const node = state.nodes.get(report.node);
  if (node === undefined) return refuse('NOT_FOUND', `no node ${report.node} has joined`);
  if (node.instance !== report.instance) {
    return refuse('STALE_ATTEMPT', `another agent has taken over node ${report.node}`, { hint: 'stop this one' });
  }
  const facts: Fact[] = [];
  const stale: TaskKey[] = [];
  const ahead = new Map<string, Ahead>();
  const held = new Set<string>();
  for (const event of report.events) {
    const judged = judge(state, report.node, event, ahead);
    if (judged === 'foreign')
      return refuse('NOT_ASSIGNED', `task ${taskKeyText(event)} was never placed on ${report.node}`);
    if (judged === 'future') return future(event);
    if (judged === 'stale')
      stale.push({ job: event.job, index: event.index, rank: event.rank, attempt: event.attempt });
    if (judged === 'news') facts.push(event);
    if (judged === 'news' && event.kind === 'NodeFault' && event.held) held.add(taskKeyText(event));
  }
  for (const task of new Set(report.released.map(taskKeyText))) {
    const isHeld = node.allocations.get(task)?.held === true || held.has(task);
    if (isHeld) facts.push({ kind: 'AllocationReleased', node: node.name, task });
  }
  const secrets = secretsOfReport(state, node, report);
  if (isRefusal(secrets)) return secrets;
  return { facts: [...facts, ...secrets], answer: { kind: 'reported', stale } };
}

/** It is neither believed nor stopped: whoever made that attempt may be right. */
function future(event: TaskFact): Refusal {
  return refuse('FUTURE_ATTEMPT', `attempt ${event.attempt} of ${event.job} was never placed`, {
    hint: 'the log was restored, or the node belongs to another server',
  });
}

/** Where a task will stand once the events before this one in the same report have been folded. */
type Ahead = Pick<Task, 'step' | 'started' | 'endpoint' | 'ready' | 'notReady' | 'restarts'>;

function judge(
  state: State,
  node: string,
  event: TaskFact,
  ahead: Map<string, Ahead>,
): 'news' | 'repetition' | 'stale' | 'future' | 'foreign' {
  const job = state.jobs.get(event.job);
  const found = findTask(job, event);
  if ((job?.elements.get(event.index)?.attempt ?? event.attempt) < event.attempt) return 'future';
  if (job === undefined || found === null) return 'stale';
  if (found.task.node !== node) return 'foreign';
  const name = taskKeyText(event);
  const stands = ahead.get(name) ?? found.task;
  if (judgeEvent(event.kind, stands.step) !== 'news' || saysNothingNew(event, stands)) return 'repetition';
  ahead.set(name, standsAfter(job, event, stands));
  return 'news';
}

/** Events that leave a task at its step are news only once. */
function saysNothingNew(event: TaskFact, stands: Ahead): boolean {
  switch (event.kind) {
    case 'JobStarted':
      return stands.started;
    case 'EndpointOpened':
      return stands.endpoint === event.endpoint;
    case 'TaskPrepared':
      return stands.endpoint === `${event.address}:${event.port}`;
    case 'ReadinessChanged':
      return stands.ready === event.ready && (event.ready || stands.notReady === event.reason);
    case 'Restarted':
      return event.restarts <= stands.restarts;
    default:
      return false;
  }
}

function standsAfter(job: Job, event: TaskFact, stands: Ahead): Ahead {
  const { to, stopsFirst } = transitions[event.kind];
  const needs = stepNeeds(job);
  const waits = event.kind === 'TaskPrepared' && needs.barrier;
  return {
    step: waits ? 'prepare' : skipTo(to, needs, stopsFirst),
    started: stands.started || event.kind === 'JobStarted',
    endpoint: endpointAfter(event) ?? stands.endpoint,
    ...readinessAfter(event, stands),
  };
}

function readinessAfter(
  event: TaskFact,
  { ready, notReady, restarts }: Ahead,
): Pick<Ahead, 'ready' | 'notReady' | 'restarts'> {
  if (event.kind === 'ReadinessChanged')
    return { ready: event.ready, notReady: event.ready ? null : event.reason, restarts };
  if (event.kind === 'Restarted') return { ready: ready === null ? null : false, notReady, restarts: event.restarts };
  return { ready, notReady, restarts };
}

function endpointAfter(event: TaskFact): string | null {
  if (event.kind === 'EndpointOpened') return event.endpoint;
  return event.kind === 'TaskPrepared' ? `${event.address}:${event.port}` : null;
}
