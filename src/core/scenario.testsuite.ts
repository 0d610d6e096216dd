import type { Answer, Command, NodeReport, SubmitJob } from './command.ts';
import { type StepResult, step } from './engine.ts';
import { evolve } from './evolve.ts';
import type { Fact } from './fact.ts';
import type { TaskEvent } from './job/facts.ts';
import { type Job, jobState, type LiveElement, type Task, type TaskKey } from './job/job.ts';
import type { JobSpec } from './job/spec.ts';
import { leaseTimes, withoutLeases } from './node/lease-times.ts';
import type { Capacity } from './node/node.ts';
import { ordersFor } from './node/orders.ts';
import type { PartialSettings } from './profile/settings.ts';
import { toRecords } from './records.ts';
import { isRefusal, type Refusal } from './refusal.ts';
import { emptyState, type State } from './state.ts';

const wallStartMs = Date.UTC(2026, 0, 1);

/** A state and all that was done to it: commands go through the engine one step at a time, in virtual time. */
export class Scenario {
  state: State = emptyState();
  nowMs = 0;
  readonly facts: { readonly fact: Fact; readonly nowMs: number }[] = [];
  readonly archived = new Map<string, Job>();
  readonly instances = new Map<string, string>();
  /** Log time at which leases end, as the log would have them. */
  readonly leases = new Map<string, number>();
  afterOutage = false;
  #drawn = 0;

  step(...commands: readonly Command[]): StepResult {
    const result = step(this.state, commands, this.context());
    for (const fact of result.facts) {
      this.facts.push({ fact, nowMs: this.nowMs });
      this.#grant(fact);
    }
    for (const job of result.archived) this.archived.set(job.id, job);
    return result;
  }

  context(state: State = this.state): ReturnType<typeof contextAt> {
    return { ...contextAt(this.nowMs, state), leases: this.leases, afterOutage: this.afterOutage };
  }

  /** One command that must not be refused; its answer. */
  do(command: Command): Answer {
    const [answer] = this.step(command).answers;
    if (answer === undefined || isRefusal(answer)) throw new Error(`refused: ${JSON.stringify(answer)}`);
    return answer;
  }

  /** One command that must be refused and change nothing; the refusal. */
  refused(command: Command): Refusal {
    const before = toRecords(this.state).join('\n');
    const { answers, facts } = this.step(command);
    const [answer] = answers;
    if (!isRefusal(answer)) throw new Error(`not refused: ${JSON.stringify(answer)}`);
    if (facts.length > 0 || toRecords(this.state).join('\n') !== before) throw new Error('a refusal changed the state');
    return answer;
  }

  /** Nodes that join over the network, each with a lease. */
  joinLeased(...nodes: readonly string[]): void {
    for (const node of nodes) this.join(node, {}, { leased: true });
  }

  /** Time passes, in which only these nodes are heard; every lease is looked at once a heartbeat. */
  silence(ms: number, ...heard: readonly string[]): void {
    const untilMs = this.nowMs + ms;
    while (this.nowMs < untilMs) {
      this.nowMs = Math.min(untilMs, this.nowMs + leaseTimes.heartbeatMs);
      this.beat(...heard);
      this.step({ kind: 'CheckLeases', nodes: [...this.state.nodes.keys()] }, { kind: 'Tick' });
    }
  }

  /** A sign of life of each. */
  beat(...nodes: readonly string[]): void {
    for (const node of nodes) {
      this.leases.set(node, this.nowMs + leaseTimes.leaseMs);
      this.do({ kind: 'NodeHeard', node, instance: this.instances.get(node) ?? '' });
    }
  }

  /** What a commit does to leases beside its facts (control/lease-grants.ts). */
  #grant(fact: Fact): void {
    if (fact.kind === 'NodeJoined' && fact.leased) this.leases.set(fact.node, this.nowMs + leaseTimes.leaseMs);
    if (fact.kind !== 'LossReleased') return;
    for (const { name, presence } of this.state.nodes.values()) {
      if (presence.kind === 'suspect') this.leases.set(name, this.nowMs);
    }
  }

  /** Time passes and is noticed. */
  pass(ms: number): StepResult {
    this.nowMs += ms;
    return this.step({ kind: 'Tick' });
  }

  submit(profile: PartialSettings = {}, spec: Partial<JobSpec> = {}, more: Partial<SubmitJob> = {}): string {
    this.#drawn += 1;
    const answer = this.do(submission(`job-${this.#drawn}`, profile, spec, more));
    if (answer.kind !== 'submitted') throw new Error('a submission was answered with something else');
    return answer.job;
  }

  join(node: string, capacity: Partial<Capacity> = {}, more: JoinMore = {}): void {
    const instance = more.instance ?? `${node}-${this.facts.length}`;
    this.instances.set(node, instance);
    this.do(joining(node, instance, capacity, more));
  }

  leave(node: string): void {
    this.do({ kind: 'LeaveNode', node, instance: this.instances.get(node) ?? '' });
  }

  /** Events of one task, told by the node it is on. */
  report(key: TaskKey, ...events: readonly TaskEvent[]): StepResult {
    const node = this.task(key.job, key.index, key.rank).node;
    return this.step(
      this.reportOf(
        node,
        events.map((event) => ({ ...key, ...event })),
      ),
    );
  }

  reportOf(node: string, events: NodeReport['events'], released: readonly TaskKey[] = []): NodeReport {
    return { kind: 'NodeReport', node, instance: this.instances.get(node) ?? '', events, released };
  }

  /** The job, alive or archived. */
  job(id: string): Job {
    const job = this.state.jobs.get(id) ?? this.archived.get(id);
    if (job === undefined) throw new Error(`no job ${id}`);
    return job;
  }

  stateOf(id: string): string {
    return jobState(this.job(id));
  }

  live(id: string, index = 0): LiveElement {
    const element = this.job(id).elements.get(index);
    if (element?.kind !== 'live') throw new Error(`${id}/${index} is ${element?.kind ?? 'untouched'}`);
    return element;
  }

  task(id: string, index = 0, rank = 0): Task {
    const task = this.job(id).elements.get(index)?.tasks[rank];
    if (task === undefined) throw new Error(`no task ${id}/${index} rank ${rank}`);
    return task;
  }

  /** Key of the current attempt's task. */
  key(id: string, index = 0, rank = 0): TaskKey {
    return { job: id, index, rank, attempt: this.live(id, index).attempt };
  }

  /** `<task>:<step>` of every order that stands, sorted. */
  orders(): readonly string[] {
    const texts: string[] = [];
    for (const node of this.state.nodes.keys()) {
      for (const [key, order] of ordersFor(this.state, node)) texts.push(`${key}:${order.step}`);
    }
    return texts.sort();
  }

  kinds(from = 0): readonly string[] {
    return this.facts.slice(from).map(({ fact }) => fact.kind);
  }

  /** The state that the facts alone give. */
  replayed(): State {
    const state = emptyState();
    for (const { fact, nowMs } of this.facts) evolve(state, fact, contextAt(nowMs));
    return state;
  }
}

/** Ids come from the number of jobs that there were: fresh, and the same for the same state. */
export function contextAt(nowMs: number, state: State = emptyState()) {
  let drawn = 0;
  const drawId = (name: string): string => {
    drawn += 1;
    return `${name}-${state.submitted}x${drawn}`;
  };
  const none = { archivedIds: new Set<string>(), missingBlobs: new Set<string>() };
  return { nowMs, atMs: wallStartMs + nowMs, ...none, ...withoutLeases, drawId };
}

export function specOf(more: Partial<JobSpec> = {}): JobSpec {
  return { name: 'job', run: 'true', setup: null, workspace: null, outputs: [], env: {}, args: [], ...more };
}

export function submission(
  id: string,
  profile: PartialSettings = {},
  spec: Partial<JobSpec> = {},
  more: Partial<SubmitJob> = {},
): SubmitJob {
  const layers = [{ origin: 'job.toml', values: profile }];
  const workspace = spec.workspace ? { manifest: 'a'.repeat(64), files: 1, sizeBytes: 10 } : null;
  return {
    kind: 'SubmitJob',
    spec: specOf(spec),
    source: { job: { name: 'job' } },
    profile: null,
    layers,
    workspace,
    project: 'default',
    owner: 'ada',
    retryOf: null,
    indices: null,
    ids: [id],
    ...more,
  };
}

export function capacityOf(more: Partial<Capacity> = {}): Capacity {
  return { cpus: 4, memoryMiB: 8192, gpus: [], labels: {}, ...more };
}

export function gpus(
  node: string,
  count: number,
  name = 'NVIDIA H100 80GB HBM3',
  memoryMiB = 81_920,
): Capacity['gpus'] {
  return Array.from({ length: count }, (_, index) => ({ uuid: `GPU-${node}-${index}`, index, name, memoryMiB }));
}

/** How a node joins, where it is not a fresh agent of an embedded one on the same boot. */
export interface JoinMore {
  readonly instance?: string;
  readonly bootId?: string;
  readonly inventory?: readonly TaskKey[];
  readonly leased?: boolean;
  readonly wallMs?: number;
}

export function joining(
  node: string,
  instance: string,
  capacity: Partial<Capacity> = {},
  more: JoinMore = {},
): Extract<Command, { kind: 'JoinNode' }> {
  return {
    kind: 'JoinNode',
    node,
    instance,
    bootId: more.bootId ?? 'boot-1',
    capacity: capacityOf(capacity),
    advertise: '127.0.0.1',
    platform: 'linux',
    version: '0.1.0',
    inventory: more.inventory ?? [],
    leased: more.leased ?? false,
    wallMs: more.wallMs ?? null,
  };
}

export const exited = (exitCode: number): TaskEvent => ({ kind: 'JobExited', exitCode, signal: null, detail: null });
export const collected: TaskEvent = {
  kind: 'OutputsCollected',
  outputs: [],
  manifest: null,
  exitCode: null,
  signal: null,
};
