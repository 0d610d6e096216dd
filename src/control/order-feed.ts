import type { Fact } from '../core/fact.ts';
import { type TaskKey, taskKeyText } from '../core/job/job.ts';
import { type Order, orderFor, ordersFor } from '../core/node/orders.ts';
import { isSecretFact, type SecretFact } from '../core/secrets/facts.ts';
import { secretNames } from '../core/secrets/secret.ts';
import type { State } from '../core/state.ts';
import type { ControlPlane } from './control-plane.ts';

/** What changed for a node: the order that stands now, or null when nothing is left to do for the attempt. */
export interface OrderChange {
  readonly key: TaskKey;
  readonly order: Order | null;
}

/** Everything that stands, or what is different since the last time. */
export type OrderNews =
  | { readonly kind: 'all'; readonly orders: readonly Order[] }
  | { readonly kind: 'changes'; readonly changes: readonly OrderChange[] };

/** Follows the log and tells one node what stands for it: everything once, then what changed. */
export class OrderFeed {
  readonly #node: string;
  readonly #listener: (news: OrderNews) => void;
  readonly #known = new Map<string, TaskKey>();
  readonly #end: () => void;

  constructor(plane: ControlPlane, node: string, listener: (news: OrderNews) => void) {
    this.#node = node;
    this.#listener = listener;
    this.#end = plane.subscribe((batch, state) => this.#after(batch.facts, state));
    const orders = [...ordersFor(plane.state, node).values()];
    for (const { key } of orders) this.#known.set(taskKeyText(key), key);
    listener({ kind: 'all', orders });
  }

  close(): void {
    this.#end();
  }

  #after(facts: readonly Fact[], state: State): void {
    const touched = new Map<string, TaskKey>();
    for (const fact of facts) {
      for (const key of this.#touchedBy(fact, state)) touched.set(taskKeyText(key), key);
    }
    const changes: OrderChange[] = [];
    for (const [text, key] of touched) {
      const order = orderFor(state, state.jobs.get(key.job), text);
      if (order !== null || this.#known.has(text)) changes.push({ key, order });
    }
    if (changes.length > 0) this.#tell(changes);
  }

  #touchedBy(fact: Fact, state: State): readonly TaskKey[] {
    if (isSecretFact(fact)) return this.#thatName(state, fact);
    if (!('job' in fact)) return [];
    if ('index' in fact) return this.#tasksHere(state, fact.job, fact.index);
    if (fact.kind === 'OperatorStop') {
      const indices = fact.indices ?? [...(state.jobs.get(fact.job)?.elements.keys() ?? [])];
      return indices.flatMap((index) => this.#tasksHere(state, fact.job, index));
    }
    if (fact.kind !== 'JobArchived') return [];
    return [...this.#known.values()].filter((key) => key.job === fact.job);
  }

  /** Tasks that name a secret: their next start takes the value that stands then. */
  #thatName(state: State, { project, name }: SecretFact): readonly TaskKey[] {
    return [...this.#known.values()].filter((key) => {
      const job = state.jobs.get(key.job);
      return job?.project === project && secretNames(job.spec).includes(name);
    });
  }

  /** Tasks of an element on this node: those it has now, and those this feed has told of. */
  #tasksHere(state: State, job: string, index: number): readonly TaskKey[] {
    // One step may end an attempt and place the next: what was told of the first must be taken back.
    const keys = [...this.#known.values()].filter((key) => key.job === job && key.index === index);
    const element = state.jobs.get(job)?.elements.get(index);
    if (element === undefined) return keys;
    for (const task of element.tasks) {
      if (task.node === this.#node) keys.push({ job, index, rank: task.rank, attempt: element.attempt });
    }
    return keys;
  }

  #tell(changes: readonly OrderChange[]): void {
    for (const { key, order } of changes) {
      if (order === null) this.#known.delete(taskKeyText(key));
      else this.#known.set(taskKeyText(key), key);
    }
    this.#listener({ kind: 'changes', changes });
  }
}
