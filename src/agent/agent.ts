import type { TaskEvent } from '../core/job/facts.ts';
import { parseTaskKey, type TaskKey, taskKeyText } from '../core/job/job.ts';
import type { Capacity } from '../core/node/node.ts';
import type { Order } from '../core/node/orders.ts';
import { sleep } from '../host/clock.ts';
import { HostError } from '../host/files.ts';
import { endedDirectory } from './attempt.ts';
import type { AgentChannel, Hello, OrderChange, OrderNews } from './channel.ts';
import { createNodeContext, type NodeOptions } from './node-context.ts';
import { Reporter } from './reporter.ts';
import { retireAttempt } from './retire.ts';
import { nodeSecretNames, watchNodeSecrets } from './secrets/node-secrets.ts';
import { shareSecrets } from './secrets/share-secrets.ts';
import type { NodeContext } from './task-context.ts';
import { TaskRunner } from './task-runner.ts';

export interface AgentOptions extends NodeOptions {
  readonly channel: AgentChannel;
  /** Random, fresh for each agent. */
  readonly instance: string;
  readonly capacity: Capacity;
  readonly version: string;
  /** Told of the fault or bug that ends the agent. Processes run on; the next agent adopts them. */
  readonly onFault: (error: unknown) => void;
}

/**
 * The agent: it does what its orders say and reports what happened, and decides nothing about what is true.
 * It may die at any moment: the journal and the shims' records tell the next one all that it needs.
 */
export class Agent {
  readonly #options: AgentOptions;
  readonly #context: NodeContext;
  readonly #reporter: Reporter;
  readonly #runners = new Map<string, TaskRunner>();
  readonly #closed = new AbortController();
  /** Attempts whose tree is gone and that are being put aside: closing waits for them. */
  readonly #retiring = new Set<Promise<void>>();
  /** All attempts that are being ended and put aside, by name. */
  readonly #leaving = new Map<string, TaskRunner>();
  /** As the control plane was told of it last. */
  #inventory: TaskKey[] = [];
  #unfollow: () => void = () => {};
  #unwatchSecrets: () => void = () => {};

  private constructor(options: AgentOptions, context: NodeContext) {
    this.#options = options;
    this.#context = context;
    this.#reporter = new Reporter(options.channel, options.host, (key) => this.#fence(key));
  }

  /** Joins, adopts what an earlier agent left, and follows orders from then on. */
  static async start(options: AgentOptions): Promise<Agent> {
    const agent = new Agent(options, await createNodeContext(options));
    try {
      await options.channel.join(() => agent.#hello());
      await agent.#forgetStarts();
      agent.#watchSecrets();
      agent.#unfollow = options.channel.follow((news) => agent.#follow(news));
      return agent;
    } catch (error) {
      // What watches and polls would keep its process alive.
      await agent.close({ leave: false });
      throw error;
    }
  }

  /** Attempts that are not at their end. */
  liveTasks(): readonly TaskKey[] {
    return [...this.#runners.values()].map((runner) => runner.attempt.key);
  }

  /** What stands for an attempt that is not at its end; null for any other. */
  orderOf(key: TaskKey): Order | null {
    return this.#runners.get(taskKeyText(key))?.order ?? null;
  }

  /**
   * Ends what runs of a job, though no order says so: its records stay, and the next agent reads from them how it ended.
   * Resolves with false when something still lives a minute after SIGKILL.
   */
  async endTasks(job: string, graceMs: number): Promise<boolean> {
    const runners = [...this.#runners.values()].filter(({ attempt }) => attempt.key.job === job);
    // Closed first: what is kept up would be started again.
    for (const runner of runners) runner.close();
    const results = await Promise.all(runners.map((runner) => runner.fence(graceMs)));
    return !results.includes('unkillable');
  }

  /**
   * Ends all that runs here, orders or not, and follows no more of them: another agent, which cannot adopt it, speaks for
   * the node. What its last orders took back may not be gone yet, and is waited for as well.
   */
  async endAll(graceMs: number): Promise<void> {
    this.#unfollow();
    for (const runner of this.#runners.values()) runner.close();
    const kept = await this.#readInventory();
    const runners = kept.map((key) => this.#runners.get(taskKeyText(key)) ?? this.#runnerFor(key));
    await Promise.all(runners.map((runner) => fenceUnlessGone(runner, graceMs)));
  }

  /** Lets go of everything. Processes run on. */
  async close(options: { readonly leave: boolean }): Promise<void> {
    if (this.#closed.signal.aborted) return;
    this.#closed.abort('closed');
    this.#unfollow();
    this.#unwatchSecrets();
    this.#reporter.close();
    for (const runner of this.#runners.values()) runner.close();
    this.#context.exitWatch.close();
    await Promise.all(this.#retiring);
    if (options.leave) await this.#options.channel.leave();
  }

  async #hello(): Promise<Hello> {
    const { node, instance, capacity, advertise, version, host } = this.#options;
    this.#inventory = [...(await this.#readInventory())];
    return {
      node,
      instance,
      bootId: host.clock.bootId(),
      capacity,
      advertise,
      platform: host.machine.platform(),
      version,
      inventory: [...this.#inventory],
      ...(await this.#secrets()),
    };
  }

  /** What secrets are sealed to for this node, and the names of those that stay on it. */
  async #secrets(): Promise<Pick<Hello, 'publicKey' | 'secrets'>> {
    const { host, directory, sealing } = this.#context;
    if (sealing === null) return {};
    return { publicKey: sealing.publicKey, secrets: await nodeSecretNames(host.files, directory) };
  }

  #watchSecrets(): void {
    const { host, directory, sealing } = this.#context;
    if (sealing === null) return;
    const unfollow = this.#options.channel.followShares?.((requests) => {
      const share = async (): Promise<void> => this.#reporter.share(await shareSecrets(sealing, requests));
      this.#background(share());
    });
    const unwatch = watchNodeSecrets(host.files, directory, () => {
      const tell = async (): Promise<void> => this.#reporter.keeps(await nodeSecretNames(host.files, directory));
      this.#background(tell());
    });
    this.#unwatchSecrets = () => {
      unwatch();
      unfollow?.();
    };
  }

  async #readInventory(): Promise<readonly TaskKey[]> {
    const { host, directory, startJournal } = this.#context;
    const living = ((await host.files.list(`${directory}/attempts`)) ?? []).map(({ name }) => name);
    const names = new Set(living);
    for (const name of startJournal.known) {
      // Begun, and neither among the living nor put aside: its directory did not survive.
      if (!names.has(name) && (await host.files.stat(endedDirectory(directory, name))) === null) names.add(name);
    }
    return [...names].flatMap((name) => parseTaskKey(name) ?? []);
  }

  /** Only once the control plane has been told of them: should this agent die before, the next must tell. */
  async #forgetStarts(): Promise<void> {
    const { host, directory, startJournal, secretFiles } = this.#context;
    const living = ((await host.files.list(`${directory}/attempts`)) ?? []).map(({ name }) => name);
    await startJournal.keepOnly(living);
    await secretFiles.keepOnly(living);
  }

  #follow(news: OrderNews): void {
    if (news.kind === 'changes') {
      this.#apply(news.changes);
      return;
    }
    this.#apply(news.orders.map((order) => ({ key: order.key, order })));
    const named = new Set(news.orders.map(({ key }) => taskKeyText(key)));
    // What it runs and what lies on its disk, without an order that stands.
    for (const [name, runner] of [...this.#runners]) if (!named.has(name)) this.#retire(runner);
    for (const key of this.#inventory.splice(0)) if (!named.has(taskKeyText(key))) this.#fence(key);
  }

  #apply(changes: readonly OrderChange[]): void {
    for (const { key, order } of changes) {
      const name = taskKeyText(key);
      const known = this.#runners.get(name);
      if (order === null) {
        if (known !== undefined) this.#retire(known);
        continue;
      }
      const runner = known ?? this.#begin(key);
      runner.setOrder(order);
    }
  }

  #begin(key: TaskKey): TaskRunner {
    const runner = new TaskRunner(this.#context, key, (event) => this.#report(runner, event));
    this.#runners.set(taskKeyText(key), runner);
    this.#background(runner.drive());
    return runner;
  }

  #report(runner: TaskRunner, event: TaskEvent): void {
    this.#reporter.tell({ ...runner.attempt.key, ...event });
  }

  /** The control plane has no more use for the attempt: its end is known, or it is not the current one any more. */
  #retire(runner: TaskRunner): void {
    this.#runners.delete(runner.attempt.name);
    runner.close();
    const { name } = runner.attempt;
    this.#leaving.set(name, runner);
    const retiring = this.#putAside(runner).finally(() => this.#leaving.delete(name));
    if (runner.isGone) {
      this.#retiring.add(retiring);
      void retiring.finally(() => this.#retiring.delete(retiring)).catch(() => {});
    }
    this.#background(retiring);
  }

  async #putAside(runner: TaskRunner): Promise<void> {
    if (!runner.isGone) {
      if ((await runner.fence()) === 'unkillable') await this.#waitUntilGone(runner);
      if (this.#closed.signal.aborted) return;
      // Its end may have been told with processes left, by this agent or by one before it.
      this.#reporter.release(runner.attempt.key);
    }
    if (runner.port !== null) this.#context.ports.release(runner.port);
    await this.#context.secretFiles.remove(runner.attempt.name);
    const { host, directory, logs } = this.#context;
    await retireAttempt(host, directory, runner.attempt);
    logs?.close(runner.attempt, endedDirectory(directory, runner.attempt.name));
  }

  /** Ends an attempt that the control plane says is stale, on its word and never on our own guess. */
  #fence(key: TaskKey): void {
    const name = taskKeyText(key);
    const known = this.#leaving.get(name) ?? this.#runners.get(name);
    // It ended here, and the control plane has ended it otherwise: what is kept for it there is free all the same.
    if (known?.isGone === true) this.#reporter.release(key);
    if (this.#leaving.has(name)) return;
    this.#retire(this.#runners.get(name) ?? this.#runnerFor(key));
  }

  /** For an attempt that is only to end. */
  #runnerFor(key: TaskKey): TaskRunner {
    return new TaskRunner(this.#context, key, () => {});
  }

  /** What could not be killed keeps its devices until it is seen gone. */
  async #waitUntilGone({ attempt: { mark, directory } }: TaskRunner): Promise<void> {
    const { host } = this.#context;
    while (!this.#closed.signal.aborted) {
      await sleep(host.timers, 5000, this.#closed.signal);
      if ((await host.processes.findMarked({ mark, directory, leader: null })).length === 0) return;
    }
  }

  #background(work: Promise<void>): void {
    work.catch((error: unknown) => {
      if (!this.#closed.signal.aborted) this.#options.onFault(error);
    });
  }
}

/** One whose directory is put aside under the search for its tree has none any more. */
async function fenceUnlessGone(runner: TaskRunner, graceMs: number): Promise<void> {
  try {
    await runner.fence(graceMs);
  } catch (error) {
    if (!(error instanceof HostError) || error.code !== 'ENOENT') throw error;
  }
}
