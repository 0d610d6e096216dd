import type { NodeReport } from '../../core/command.ts';
import type { Fact } from '../../core/fact.ts';
import type { TaskEvent } from '../../core/job/facts.ts';
import type { Job, LiveElement, Task, TaskKey } from '../../core/job/job.ts';
import type { State } from '../../core/state.ts';
import { type Cluster, instanceOf } from './cluster.ts';

type Told = TaskKey & TaskEvent;

/** What nodes have to say, gathered by node until it is sent. */
export class Reports {
  readonly #events = new Map<string, Told[]>();
  readonly #cluster: Cluster;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  tell(node: string, event: Told): void {
    const events = this.#events.get(node);
    if (events === undefined) this.#events.set(node, [event]);
    else events.push(event);
  }

  /** The reports of all nodes that are not silent. */
  take(): NodeReport[] {
    const reports: NodeReport[] = [];
    for (const [name, events] of this.#events) {
      const node = this.#cluster.nodes.get(name);
      if (node === undefined || node.silentSinceMs !== null) continue;
      reports.push({ kind: 'NodeReport', node: name, instance: instanceOf(node), events, released: [] });
    }
    this.#events.clear();
    return reports;
  }
}

/** Parts of jobs that facts are about: where they stand is looked at once the step is over. */
export function touchedBy(facts: readonly Fact[], state: State): ReadonlyMap<string, readonly [string, number]> {
  const touched = new Map<string, readonly [string, number]>();
  for (const fact of facts) {
    if ('index' in fact && 'job' in fact) touched.set(`${fact.job}.${fact.index}`, [fact.job, fact.index]);
    if (fact.kind !== 'OperatorStop') continue;
    for (const index of fact.indices ?? state.jobs.get(fact.job)?.elements.keys() ?? []) {
      touched.set(`${fact.job}.${index}`, [fact.job, index]);
    }
  }
  return touched;
}

/**
 * What the agents of an element do about the steps at which its tasks stand, as far as it takes no time. Nothing has
 * to be brought or set up here: work is what it does when it runs.
 */
export function attend(job: Job, index: number, element: LiveElement, reports: Reports): void {
  for (const task of element.tasks) {
    const event = answerTo(task);
    if (event !== null)
      reports.tell(task.node, { job: job.id, index, rank: task.rank, attempt: element.attempt, ...event });
  }
}

function answerTo(task: Task): TaskEvent | null {
  switch (task.step) {
    case 'prepare':
      return task.port === null ? { kind: 'TaskPrepared', address: task.node, port: 1 } : null;
    case 'collect':
      return { kind: 'OutputsCollected', outputs: [], manifest: null, exitCode: null, signal: null };
    default:
      return null;
  }
}

/** Every task of it may run. */
export function isAtRun(element: LiveElement): boolean {
  return element.verdict === null && element.tasks.every((task) => task.step === 'run');
}
