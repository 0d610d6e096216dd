import type { Job } from '../../core/job/job.ts';
import { whyWaiting } from '../../core/placement/waiting.ts';
import type { Settings } from '../../core/profile/settings.ts';
import type { Waiting, WaitReason } from '../../core/reason.ts';
import type { State } from '../../core/state.ts';

const mostSentences = 64;
const askAgainMs = 60_000;
/** The shortest delay between two attempts. */
const askSoonMs = 1000;
const ofNodes: ReadonlySet<WaitReason> = new Set(['busy', 'no-fit', 'no-node', 'draining', 'too-few-nodes', 'spread']);

/** What waits for the same: jobs of one name with the same needs. */
interface Queue {
  readonly name: string;
  /** Parts that wait, by job, in the order in which they came. */
  readonly jobs: Map<string, number>;
  parts: number;
  /** Up to when its waiting is counted. */
  countedMs: number;
  why: Waiting | null;
  askedMs: number;
}

/** How long jobs of one name waited for one reason: milliseconds times parts. */
export interface WaitFigures {
  readonly reason: WaitReason;
  readonly name: string;
  readonly waitedMs: number;
  /** The sentence that held for most of it. */
  readonly message: string;
}

interface Account {
  readonly reason: WaitReason;
  readonly name: string;
  readonly sentences: Map<string, number>;
  waitedMs: number;
}

/**
 * Who waits, for how long, and why, as `yard explain` would say it at the time. The first in line is asked for all that
 * wait for the same, when the first of them begins to wait and from time to time afterwards.
 */
export class Waits {
  readonly #queues = new Map<string, Queue>();
  readonly #waiting = new Set<Queue>();
  readonly #accounts = new Map<string, Account>();
  #nowMs = 0;

  /** Parts of a job begin to wait, or cease to. */
  change(job: { readonly id: string; readonly name: string; readonly settings: Settings }, by: number): void {
    const key = queueKey(job);
    const queue = this.#queues.get(key) ?? this.#open(key, job.name);
    this.#count(queue);
    const parts = (queue.jobs.get(job.id) ?? 0) + by;
    if (parts <= 0) queue.jobs.delete(job.id);
    else queue.jobs.set(job.id, parts);
    queue.parts += by;
    if (queue.parts > 0) this.#waiting.add(queue);
    else this.#waiting.delete(queue);
  }

  pass(toMs: number): void {
    this.#nowMs = toMs;
  }

  /** Asks why, where that is not known or was long ago. */
  explain(state: State): void {
    for (const queue of this.#waiting) {
      const [first = ''] = queue.jobs.keys();
      const job = state.jobs.get(first);
      if (this.#isFresh(queue, job)) continue;
      this.#count(queue);
      queue.why = job === undefined ? null : whyWaiting(state, job, this.#nowMs);
      queue.askedMs = this.#nowMs;
    }
  }

  /** Most waiting first. */
  figures(): readonly WaitFigures[] {
    for (const queue of this.#waiting) this.#count(queue);
    const all = [...this.#accounts.values()].map(({ reason, name, waitedMs, sentences }) => {
      const [[message] = ['']] = [...sentences].sort(([, a], [, b]) => b - a);
      return { reason, name, waitedMs, message };
    });
    return all.sort((a, b) => b.waitedMs - a.waitedMs);
  }

  /** Why each of these waits right now, the one that has waited longest first. */
  *stillWaiting(): Generator<{ readonly job: string; readonly parts: number; readonly why: Waiting | null }> {
    for (const { jobs, why } of this.#waiting) for (const [job, parts] of jobs) yield { job, parts, why };
  }

  /**
   * Whether an array runs as many parts as it may changes with every part; what is said of the nodes changes slowly and
   * costs a look at all of them.
   */
  #isFresh({ why, askedMs }: Queue, first: Job | undefined): boolean {
    if (why === null) return false;
    const isLimited =
      first !== undefined && first.live >= (first.settings.array?.maxRunning ?? Number.POSITIVE_INFINITY);
    if (isLimited !== (why.reason === 'array-limit')) return false;
    const goodForMs = ofNodes.has(why.reason) ? Math.max(askAgainMs, this.#nowMs / 200) : askSoonMs;
    return isLimited || this.#nowMs - askedMs < goodForMs;
  }

  #open(key: string, name: string): Queue {
    const queue: Queue = { name, jobs: new Map(), parts: 0, countedMs: this.#nowMs, why: null, askedMs: 0 };
    this.#queues.set(key, queue);
    return queue;
  }

  #count(queue: Queue): void {
    const lastedMs = (this.#nowMs - queue.countedMs) * queue.parts;
    queue.countedMs = this.#nowMs;
    if (lastedMs === 0 || queue.why === null) return;
    const { reason, message } = queue.why;
    const account = this.#accountOf(reason, queue.name);
    const { sentences } = account;
    const sentence = sentences.has(message) || sentences.size < mostSentences ? message : 'and others like it';
    sentences.set(sentence, (sentences.get(sentence) ?? 0) + lastedMs);
    account.waitedMs += lastedMs;
  }

  #accountOf(reason: WaitReason, name: string): Account {
    const key = `${reason} ${name}`;
    const account = this.#accounts.get(key) ?? { reason, name, sentences: new Map<string, number>(), waitedMs: 0 };
    this.#accounts.set(key, account);
    return account;
  }
}

function queueKey({ name, settings }: { readonly name: string; readonly settings: Settings }): string {
  return `${name} ${settings.nodes} ${settings.priority} ${JSON.stringify(settings.resources)}`;
}
