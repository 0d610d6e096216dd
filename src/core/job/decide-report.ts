import type { NodeReport } from '../command.ts';
import type { Decision } from '../decide.ts';
import type { Fact } from '../fact.ts';
import { type Refusal, refuse } from '../refusal.ts';
import type { State } from '../state.ts';
import type { TaskFact } from './facts.ts';
import { findTask, type TaskKey, taskKeyText } from './job.ts';
import { judgeEvent } from './lifecycle.ts';

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
  const steps = new Map<string, Set<string>>();
  for (const event of report.events) {
    const judged = judge(state, report.node, event, steps);
    if (judged === 'foreign')
      return refuse('NOT_ASSIGNED', `task ${taskKeyText(event)} was never placed on ${report.node}`);
    if (judged === 'stale')
      stale.push({ job: event.job, index: event.index, rank: event.rank, attempt: event.attempt });
    if (judged === 'news') facts.push(event);
  }
  for (const key of report.released) {
    const task = taskKeyText(key);
    if (node.allocations.get(task)?.held === true) facts.push({ kind: 'AllocationReleased', node: node.name, task });
  }
  return { facts, answer: { kind: 'reported', stale } };
}

/** `seen` holds what the same report already said of a task: its events follow one another before any is folded. */
function judge(
  state: State,
  node: string,
  event: TaskFact,
  seen: Map<string, Set<string>>,
): 'news' | 'repetition' | 'stale' | 'foreign' {
  const found = findTask(state.jobs.get(event.job), event);
  if (found === null) return 'stale';
  if (found.task.node !== node) return 'foreign';
  const name = taskKeyText(event);
  const earlier = seen.get(name) ?? new Set();
  seen.set(name, earlier);
  if (earlier.has(event.kind)) return 'repetition';
  const judged = judgeEvent(event.kind, found.task.step);
  const repeats =
    event.kind === 'JobStarted'
      ? found.task.started
      : event.kind === 'EndpointOpened' && found.task.endpoint === event.endpoint;
  if (repeats || judged === 'repetition' || (judged === 'early' && earlier.size === 0)) return 'repetition';
  earlier.add(event.kind);
  return 'news';
}
