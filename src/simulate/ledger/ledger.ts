import type { Fact } from '../../core/fact.ts';
import type { Allocation } from '../../core/job/facts.ts';
import type { Settings } from '../../core/profile/settings.ts';
import type { Outcome } from '../../core/reason.ts';
import type { State } from '../../core/state.ts';
import type { NodeGroup } from '../plan.ts';
import type { Cluster, VirtualNode } from '../world/cluster.ts';
import type { Watcher } from '../world/events.ts';
import { describeEnd, Kinds } from './kinds.ts';
import { Usage } from './usage.ts';
import { Waits } from './waits.ts';

/** What became of one part of a job: the whole of it, unless it is an array. */
export interface PartRecord {
  readonly id: string;
  /** Array index; null where the job is no array. */
  readonly index: number | null;
  readonly name: string;
  readonly submittedMs: number;
  /** Null: never. */
  readonly startedMs: number | null;
  readonly endedMs: number | null;
  readonly attempts: number;
  /** Of the last attempt, by rank. */
  readonly nodes: readonly string[];
  /** `ok`, `exit 1`, a reason; null while it goes on. */
  readonly ended: string | null;
}

type Task = Allocation & { readonly group: number };

interface Part {
  readonly startedMs: number;
  attempts: number;
  placedMs: number;
  tasks: readonly Task[];
  running: boolean;
}

/** What is kept of a job while it is alive. */
export interface KnownJob {
  readonly id: string;
  readonly name: string;
  readonly settings: Settings;
}

interface Known {
  readonly job: KnownJob;
  /** Parts that wait. */
  waiting: number;
  readonly submittedMs: number;
  readonly parts: Map<number, Part>;
}

const mostLongest = 10;

/** Keeps the figures of a simulation, in memory that grows with what is alive and not with what was. */
export class Ledger implements Watcher {
  readonly kinds = new Kinds();
  readonly usage: Usage;
  readonly waits = new Waits();
  /** Longest from submission to start, longest first. */
  longest: readonly { readonly id: string; readonly waitedMs: number; readonly startedMs: number | null }[] = [];
  placed = 0;
  ended = 0;
  lastEndMs = 0;
  readonly #cluster: () => Cluster;
  readonly #onPart: (record: PartRecord) => void;
  readonly #jobs = new Map<string, Known>();

  constructor(groups: readonly NodeGroup[], cluster: () => Cluster, onPart: (record: PartRecord) => void) {
    this.usage = new Usage(groups);
    this.#cluster = cluster;
    this.#onPart = onPart;
  }

  pass(toMs: number): void {
    this.usage.pass(toMs);
    this.waits.pass(toMs);
  }

  capacity(node: VirtualNode, isThere: boolean): void {
    this.usage.capacity(node, isThere ? 1 : -1);
  }

  settle(state: State): void {
    this.waits.explain(state);
  }

  note(facts: readonly Fact[]): void {
    for (const fact of facts) {
      switch (fact.kind) {
        case 'JobSubmitted':
          this.#submit(fact);
          break;
        case 'AttemptPlaced':
          this.#place(fact);
          break;
        case 'AttemptEnded':
          this.#end(fact);
          break;
        case 'JobEnded':
          this.#endJob(fact.job, fact.outcome);
          break;
        default:
          break;
      }
    }
  }

  /** The simulation is over: what still runs has run until now. */
  finish(): void {
    for (const { job, parts, submittedMs } of this.#jobs.values()) {
      for (const part of parts.values()) if (part.running) this.#giveBack(job.name, part, this.usage.nowMs, false);
      const waitedMs = this.usage.nowMs - submittedMs;
      if (parts.size === 0) this.#noteLong(job.id, waitedMs, null);
    }
  }

  /** What has not ended, for the end of the simulation. */
  *alive(): Generator<PartRecord> {
    for (const { job, parts, submittedMs, waiting } of this.#jobs.values()) {
      for (const [index, part] of parts) yield recordOf(job, index, part, { submittedMs, endedMs: null, ended: null });
      const untouched = waiting - [...parts.values()].filter(({ running }) => !running).length;
      if (untouched <= 0) continue;
      const never = { startedMs: null, endedMs: null, attempts: 0, nodes: [], ended: null };
      yield { id: job.id, index: null, name: job.name, submittedMs, ...never };
    }
  }

  #submit({ job: id, name, settings, indices }: Extract<Fact, { kind: 'JobSubmitted' }>): void {
    const parts = indices?.length ?? settings.array?.size ?? 1;
    const kind = this.kinds.of(name);
    kind.jobs += 1;
    kind.parts += parts;
    const known = { job: { id, name, settings }, waiting: 0, submittedMs: this.usage.nowMs, parts: new Map() };
    this.#jobs.set(id, known);
    this.#wait(known, parts);
  }

  #place({ job: id, index, attempt, tasks }: Extract<Fact, { kind: 'AttemptPlaced' }>): void {
    const known = this.#jobs.get(id);
    if (known === undefined) return;
    const { nodes } = this.#cluster();
    const nowMs = this.usage.nowMs;
    const placed = tasks.map((task) => ({ ...task, group: nodes.get(task.node)?.group ?? 0 }));
    this.#wait(known, -1);
    this.placed += 1;
    this.usage.take(known.job.name, placed, 1);
    const before = known.parts.get(index);
    const part = {
      startedMs: before?.startedMs ?? nowMs,
      attempts: attempt,
      placedMs: nowMs,
      tasks: placed,
      running: true,
    };
    known.parts.set(index, part);
    const kind = this.kinds.of(known.job.name);
    kind.attempts += 1;
    if (before !== undefined) return;
    kind.waited.add(nowMs - known.submittedMs);
    this.#noteLong(known.job.settings.array === null ? id : `${id}/${index}`, nowMs - known.submittedMs, nowMs);
  }

  #end({ job: id, index, outcome, retryAtMs }: Extract<Fact, { kind: 'AttemptEnded' }>): void {
    const known = this.#jobs.get(id);
    const part = known?.parts.get(index);
    if (known === undefined || part === undefined) return;
    const nowMs = this.usage.nowMs;
    const { job } = known;
    if (part.running) this.#giveBack(job.name, part, nowMs);
    if (retryAtMs !== null) {
      this.#wait(known, 1);
      return;
    }
    this.ended += 1;
    this.lastEndMs = nowMs;
    this.kinds.of(job.name).end(outcome);
    const ended = { submittedMs: known.submittedMs, endedMs: nowMs, ended: describeEnd(outcome) };
    this.#onPart(recordOf(job, index, part, ended));
    known.parts.delete(index);
  }

  #giveBack(name: string, part: Part, nowMs: number, isOver = true): void {
    const kind = this.kinds.of(name);
    const ranMs = nowMs - part.placedMs;
    if (isOver) {
      part.running = false;
      this.usage.take(name, part.tasks, -1);
      kind.ran.add(ranMs);
    }
    for (const { devices, cpus } of part.tasks) {
      kind.gpuMs += devices.length * ranMs;
      kind.coreMs += cpus * ranMs;
    }
  }

  /** What of it waited will never run now. */
  #endJob(id: string, outcome: Outcome): void {
    const known = this.#jobs.get(id);
    if (known === undefined) return;
    for (let part = known.waiting; part > 0; part -= 1) this.kinds.of(known.job.name).end(outcome);
    this.#wait(known, -known.waiting);
    this.#jobs.delete(id);
  }

  #wait(known: Known, by: number): void {
    if (by === 0) return;
    known.waiting += by;
    this.usage.waiting(by);
    this.waits.change(known.job, by);
  }

  #noteLong(id: string, waitedMs: number, startedMs: number | null): void {
    const least = this.longest[mostLongest - 1];
    if (waitedMs <= 0 || (least !== undefined && waitedMs <= least.waitedMs)) return;
    const at = this.longest.findIndex((one) => one.waitedMs < waitedMs);
    const position = at < 0 ? this.longest.length : at;
    this.longest = [
      ...this.longest.slice(0, position),
      { id, waitedMs, startedMs },
      ...this.longest.slice(position, mostLongest - 1),
    ];
  }
}

function recordOf(
  job: KnownJob,
  index: number,
  { startedMs, attempts, tasks }: Part,
  rest: Pick<PartRecord, 'submittedMs' | 'endedMs' | 'ended'>,
): PartRecord {
  const { id, name, settings } = job;
  const nodes = tasks.map(({ node }) => node);
  return { id, index: settings.array === null ? null : index, name, startedMs, attempts, nodes, ...rest };
}
