import type { Fact } from '../fact.ts';
import { type Job, type LiveElement, parseTaskKey } from '../job/job.ts';
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
  const isTogether = silent >= leastTogether && silent >= of * shareTogether;
  if (isTogether === (state.lossHeld !== null)) return [];
  return isTogether ? [{ kind: 'LossHeld', silent, of }] : [{ kind: 'LossReleased' }];
}

/** What becomes of the tasks on a node that is lost: each job's profile says (`onNodeLoss`). */
export function followLoss(state: State, node: string): readonly Fact[] {
  const elements = new Map<string, readonly Fact[]>();
  for (const task of state.nodes.get(node)?.allocations.keys() ?? []) {
    const key = parseTaskKey(task);
    if (key === null) continue;
    elements.set(`${key.job}.${key.index}`, lostTasks(state, state.jobs.get(key.job), key.index));
  }
  return [...elements.values()].flat();
}

/**
 * Tasks on lost nodes that need not wait for them: the profile does not ask for it, or a person did, or how the attempt
 * ends is decided already. What they were given stays taken until the node says that nothing of them is left.
 */
export function lostTasks(state: State, job: Job | undefined, index: number): readonly Fact[] {
  const element = job?.elements.get(index);
  if (job === undefined || element?.kind !== 'live' || waitsForNode(job, element)) return [];
  return element.tasks.flatMap(({ node, rank, step, exited }): Fact[] => {
    if (step === 'ended' || !isLost(state, node)) return [];
    const message = `node ${node} is lost`;
    return [{ kind: 'NodeLost', job: job.id, index, rank, attempt: element.attempt, message, held: !exited }];
  });
}

function waitsForNode(job: Job, { verdict, retryAsked }: LiveElement): boolean {
  return job.settings.onNodeLoss === 'wait' && verdict === null && !retryAsked;
}

/** The lost node that an element waits for; null when it waits for none. */
export function awaitedNode(state: State, job: Job, index: number): string | null {
  const element = job.elements.get(index);
  if (element?.kind !== 'live' || !waitsForNode(job, element)) return null;
  return element.tasks.find(({ node, step }) => step !== 'ended' && isLost(state, node))?.node ?? null;
}

export function isLost(state: State, node: string): boolean {
  return state.nodes.get(node)?.presence.kind === 'lost';
}
