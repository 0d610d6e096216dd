import type { Fact } from '../fact.ts';
import { type Job, type LiveElement, parseTaskKey, type Task } from '../job/job.ts';
import type { State } from '../state.ts';

/** Fewer silent nodes than this are their own fault; of more, a quarter of all. */
const leastTogether = 3;
const shareTogether = 1 / 4;

/** How many leased nodes are silent, of those that are not lost or gone. */
export function countSilent(state: State): { readonly silent: number; readonly of: number } {
  const counted = [...state.nodes.values()].filter(
    ({ leased, presence: { kind } }) => leased && (kind === 'up' || kind === 'suspect'),
  );
  return { silent: counted.filter(({ presence }) => presence.kind === 'suspect').length, of: counted.length };
}

/**
 * Looked at only when every fact at hand is folded, for many nodes fall silent with one look at their leases.
 * When many do, what is between them and us is at fault: no loss is decided until fewer are.
 */
export function followSilence(state: State): readonly Fact[] {
  const { silent, of } = countSilent(state);
  const holds = isTogether(silent, of);
  if (holds === (state.lossHeld !== null)) return [];
  return holds ? [{ kind: 'LossHeld', silent, of }] : [{ kind: 'LossReleased' }];
}

/** Whether so many silent ones, of so many, are no node's own fault. */
export function isTogether(silent: number, of: number): boolean {
  return silent >= leastTogether && silent >= of * shareTogether;
}

/** What becomes of the tasks on a node that is lost is looked at: each job's profile says (`onNodeLoss`). */
export function noteLostNode(state: State, node: string): void {
  for (const task of state.nodes.get(node)?.allocations.keys() ?? []) {
    const key = parseTaskKey(task);
    if (key !== null) noteLoss(state, key.job, key.index);
  }
}

/** Something about the element changed: where a task of it is on a lost node, it is looked at. */
export function noteLoss(state: State, job: string, index: number): void {
  const element = state.jobs.get(job)?.elements.get(index);
  if (element?.kind !== 'live' || !element.tasks.some((task) => isLeft(state, task))) return;
  state.derived.lossDue.set(`${job}.${index}`, { job, index });
}

/** Looked at only when every fact at hand is folded: several nodes may be lost with one look, and each task is lost once. */
export function followLoss(state: State): readonly Fact[] {
  const due = [...state.derived.lossDue.values()];
  state.derived.lossDue.clear();
  return due.flatMap(({ job, index }) => lostTasks(state, job, index));
}

/**
 * Tasks on lost nodes that need not wait for them: the profile does not ask for it, or a person did, or how the attempt
 * ends is decided already. What they were given stays taken until the node says that nothing of them is left.
 */
function lostTasks(state: State, id: string, index: number): readonly Fact[] {
  const job = state.jobs.get(id);
  const element = job?.elements.get(index);
  if (job === undefined || element?.kind !== 'live' || waitsForNode(job, element)) return [];
  return element.tasks.flatMap((task): Fact[] => {
    if (!isLeft(state, task)) return [];
    const { node, rank, exited } = task;
    const message = `node ${node} is lost`;
    return [{ kind: 'NodeLost', job: id, index, rank, attempt: element.attempt, message, held: !exited }];
  });
}

/** It has not ended, and its node is lost. */
function isLeft(state: State, { node, step }: Task): boolean {
  return step !== 'ended' && isLost(state, node);
}

function waitsForNode(job: Job, { verdict, retryAsked }: LiveElement): boolean {
  return job.settings.onNodeLoss === 'wait' && verdict === null && !retryAsked;
}

/** The lost node that an element waits for; null when it waits for none. */
export function awaitedNode(state: State, job: Job, index: number): string | null {
  const element = job.elements.get(index);
  if (element?.kind !== 'live' || !waitsForNode(job, element)) return null;
  return element.tasks.find((task) => isLeft(state, task))?.node ?? null;
}

export function isLost(state: State, node: string): boolean {
  return state.nodes.get(node)?.presence.kind === 'lost';
}
