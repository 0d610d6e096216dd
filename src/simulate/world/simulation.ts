import type { Command } from '../../core/command.ts';
import { step } from '../../core/engine.ts';
import type { Fact } from '../../core/fact.ts';
import { leaseTimes } from '../../core/node/lease-times.ts';
import { isRefusal } from '../../core/refusal.ts';
import { nextServiceDueMs } from '../../core/service/follow.ts';
import { emptyState, type State } from '../../core/state.ts';
import { Draws } from '../draw.ts';
import { EventHeap } from '../event-heap.ts';
import type { Plan } from '../plan.ts';
import { Cluster } from './cluster.ts';
import type { Awaited, Event, Watcher } from './events.ts';
import { NodeLife } from './node-life.ts';
import { WorkLife } from './work-life.ts';

/** Commands that one commit of the control plane takes at most, in production and here. */
const mostCommandsPerStep = 512;

/**
 * A cluster and its work in virtual time: the core decides, exactly as in production; nodes are only there or silent,
 * and work only takes its time. One event after the other, so that the same plan gives the same history.
 */
export class Simulation {
  readonly state: State = emptyState();
  readonly cluster: Cluster;
  nowMs = 0;
  readonly #plan: Plan;
  readonly #watcher: Watcher;
  readonly #heap = new EventHeap<{ readonly event: Event; readonly awaited: Awaited }>();
  readonly #work: WorkLife;
  readonly #nodes: NodeLife;
  /** How many events are to come. */
  readonly #ahead: Record<Awaited, number> = { yes: 0, 'while-work-waits': 0, no: 0 };
  /** When a job last moved, or something came that was awaited. What stays up moves for ever, and says nothing. */
  #movedMs = 0;
  #tickAtMs: number | null = null;

  constructor(plan: Plan, watcher: Watcher) {
    this.#plan = plan;
    this.#watcher = watcher;
    const draws = new Draws(plan.seed);
    this.cluster = new Cluster(plan.nodes);
    const parts = { state: this.state, cluster: this.cluster, draws, watcher, plan, add: this.#add };
    this.#work = new WorkLife(parts);
    this.#nodes = new NodeLife(parts, this.#work);
  }

  /** Runs to the end of the work, or of the time. Calls back now and then. */
  run(onPause: (nowMs: number) => void = () => {}): void {
    this.#nodes.start();
    this.#work.start();
    for (let steps = 1; ; steps += 1) {
      const nextMs = this.#heap.nextMs;
      if (nextMs === null || !this.#goesOn()) break;
      if (this.#plan.untilMs !== null && nextMs > this.#plan.untilMs) break;
      this.#pass(nextMs);
      this.#commit(this.#take(nextMs));
      if (steps % 4096 === 0) onPause(this.nowMs);
    }
    const endMs = this.#plan.untilMs;
    if (endMs !== null && this.#heap.nextMs !== null) this.#pass(endMs);
  }

  readonly #add = (atMs: number, event: Event, awaited: Awaited): void => {
    this.#ahead[awaited] += 1;
    this.#heap.add(atMs, { event, awaited });
  };

  /** Once every node that was away has come back and still nothing moves, nothing will. */
  #goesOn(): boolean {
    if (this.#ahead.yes > 0) return true;
    return this.#ahead['while-work-waits'] > 0 && this.nowMs - this.#movedMs <= this.#nodes.longestAwayMs;
  }

  #pass(toMs: number): void {
    this.#watcher.pass(toMs);
    this.nowMs = toMs;
  }

  /** What everything that happens at this time asks of the control plane. */
  #take(atMs: number): Command[] {
    const commands: Command[] = [];
    while (this.#heap.nextMs === atMs && commands.length < mostCommandsPerStep) {
      const taken = this.#heap.take();
      if (taken === undefined) break;
      const { event, awaited } = taken;
      this.#ahead[awaited] -= 1;
      if (awaited === 'yes') this.#movedMs = atMs;
      if (event.kind === 'tick') this.#tickAtMs = null;
      commands.push(...this.#commandsOf(event));
    }
    return commands;
  }

  #commandsOf(event: Event): readonly Command[] {
    switch (event.kind) {
      case 'tick':
        return [{ kind: 'Tick' }];
      case 'arrival':
      case 'exit':
      case 'restart':
        return this.#work.commandsOf(event, this.nowMs);
      default:
        return this.#nodes.commandsOf(event, this.nowMs);
    }
  }

  /** Steps of the core until nothing more follows at this time. */
  #commit(first: readonly Command[]): void {
    let commands = first;
    while (commands.length > 0) {
      const { facts, answers, unfinished } = step(this.state, commands, this.#context());
      const refusal = answers.find(isRefusal);
      if (refusal !== undefined) throw new Error(`the core refused what was simulated: ${refusal.message}`);
      const following = this.#note(facts);
      commands = unfinished ? [...following, { kind: 'Tick' }] : following;
    }
    this.#watcher.settle(this.state);
  }

  #note(facts: readonly Fact[]): Command[] {
    this.#watcher.note(facts);
    for (const fact of facts) {
      if (fact.kind === 'AttemptPlaced' || fact.kind === 'AttemptEnded') this.#noteMove(fact.job);
      if (fact.kind === 'AttemptEnded' && fact.retryAtMs !== null && fact.retryAtMs > this.nowMs) {
        this.#add(fact.retryAtMs, { kind: 'tick' }, 'yes');
      }
    }
    this.#planTick();
    return [...this.#work.follow(facts, this.nowMs), ...this.#nodes.follow()];
  }

  #noteMove(id: string): void {
    if (this.state.jobs.get(id)?.service === null) this.#movedMs = this.nowMs;
  }

  /** What services do by themselves as time passes. Nothing waits for it alone. */
  #planTick(): void {
    if (this.state.services.size === 0) return;
    let dueMs: number | null = null;
    for (const service of this.state.services.values()) {
      const oneMs = nextServiceDueMs(service, this.nowMs);
      if (oneMs !== null && (dueMs === null || oneMs < dueMs)) dueMs = oneMs;
    }
    if (dueMs === null || (this.#tickAtMs !== null && this.#tickAtMs <= dueMs)) return;
    this.#tickAtMs = dueMs;
    this.#add(dueMs, { kind: 'tick' }, 'no');
  }

  #context() {
    const none = new Set<string>();
    return {
      nowMs: this.nowMs,
      atMs: (this.#plan.startMs ?? 0) + this.nowMs,
      archivedIds: none,
      missingBlobs: none,
      drawId: (name: string) => this.#work.drawId(name),
      leases: this.#nodes.leases,
      leaseTimes,
      afterOutage: false,
    };
  }
}
