import { mayBeLost } from '../core/node/decide-leases.ts';
import { type LeaseTimes, leaseName } from '../core/node/lease-times.ts';
import type { Node } from '../core/node/node.ts';
import { isRefusal } from '../core/refusal.ts';
import type { State } from '../core/state.ts';
import { sleep } from '../host/clock.ts';
import { toHex } from '../host/hex.ts';
import type { Host } from '../host/host.ts';
import type { LeaseGrant } from '../log/fact-log.ts';
import { commitRefusal } from './commit-refusal.ts';
import type { ControlPlane } from './control-plane.ts';
import { longLeases } from './lease-grants.ts';

const longestPauseMs = 1000;
/** A log that nobody has written to for longer was unattended: while leases are kept, that must not be so. */
const attendMs = 10_000;
const roleName = 'role/leases';

/**
 * Keeps the leases of nodes that join over the network. Heartbeats renew them, many with one write a second; a lease that
 * ended is looked at again under the log's lock before anything follows from it. Nothing here is a fact: as long as all
 * nodes are heard, the log stands still.
 */
export class LeaseKeeper {
  readonly #plane: ControlPlane;
  readonly #host: Host;
  readonly #onFault: (error: unknown) => void;
  readonly #self: string;
  readonly #heard = new Map<string, { readonly instance: string; readonly atMs: number }>();
  /** Every lease was made long once, since this process began to listen. */
  #isLong = false;
  #lookedMs: number | null = null;
  #attendedMs = Number.NEGATIVE_INFINITY;

  constructor(plane: ControlPlane, host: Host, onFault: (error: unknown) => void) {
    this.#plane = plane;
    this.#host = host;
    this.#onFault = onFault;
    this.#self = toHex(host.chance.bytes(8));
  }

  /**
   * Makes every lease long, since nobody was heard while this process did not run, then looks once a second until the
   * signal. Resolves as soon as the leases are long, or cannot be for want of room: nobody is missed before they are.
   */
  async start(signal: AbortSignal): Promise<void> {
    await this.#try(() => this.#lengthen());
    this.#lookUntil(signal).catch((error: unknown) => {
      // A look that was under way when it was to end finds the log closed.
      if (!signal.aborted) this.#onFault(error);
    });
  }

  /** A sign of life of the agent that speaks for the node: a heartbeat, or anything else that it sends. Costs nothing. */
  heard(node: string, instance: string): void {
    this.#heard.set(node, { instance, atMs: this.#host.clock.bootMs() });
  }

  async #lookUntil(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#try(() => this.#look());
      await sleep(this.#host.timers, this.#pauseMs, signal);
    }
  }

  get #pauseMs(): number {
    return Math.min(longestPauseMs, this.#plane.leaseTimes.heartbeatMs);
  }

  /** On a full disk nothing can be written down, and so nobody is missed either. */
  async #try(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (commitRefusal(error)?.code !== 'STORE_FULL') throw error;
    }
  }

  async #lengthen(): Promise<void> {
    const plane = this.#plane;
    await plane.catchUp();
    const long = longLeases(plane.state.nodes.values(), plane.leaseTimes);
    if (long.length > 0) await plane.log.renewLeases([...long, this.#role()]);
    // The outage that went before is over with that, or a later look would take it for one of its own.
    this.#isLong = await this.#check([]);
  }

  async #look(): Promise<void> {
    const plane = this.#plane;
    if (!this.#isLong) await this.#lengthen();
    if (!this.#isLong) return;
    await plane.catchUp();
    const missed = await this.#renew();
    for (const { name, instance } of missed) await plane.execute({ kind: 'NodeHeard', node: name, instance });
    if (this.#wasAway()) return;
    const leases = await plane.log.readLeases();
    const ends = new Map(leases.map(({ name, untilMs }) => [name, untilMs]));
    const { leaseTimes, state } = plane;
    const unknown = [...state.nodes.values()].filter(({ leased, name }) => leased && !ends.has(leaseName(name)));
    if (unknown.length > 0) {
      // Written by a log that was restored without them, or by an older process.
      await plane.log.renewLeases(longLeases(unknown, leaseTimes));
    }
    const due = dueNodes(state, { ends, nowMs: plane.nowMs(), leaseTimes });
    if (due.length > 0) await this.#check(due);
  }

  /** False when there is no room to write down what follows. */
  async #check(nodes: readonly string[]): Promise<boolean> {
    const answer = await this.#plane.execute({ kind: 'CheckLeases', nodes });
    if (!isRefusal(answer)) return true;
    if (answer.code === 'STORE_FULL') return false;
    throw new Error(`leases cannot be checked: ${answer.message}`);
  }

  /** Writes down who was heard; returns the nodes that were missed until now. */
  async #renew(): Promise<readonly Node[]> {
    const { state, leaseTimes, log } = this.#plane;
    const nowMs = this.#host.clock.bootMs();
    const heard = [...this.#heard];
    const renewed = heard.flatMap(([name, { instance, atMs }]) => {
      const node = state.nodes.get(name);
      // A lease counts from the heartbeat: one from before this process stood still is worth what is left of it.
      const forMs = leaseTimes.leaseMs - (nowMs - atMs);
      return node?.leased === true && node.instance === instance && forMs > 0 ? [{ node, forMs }] : [];
    });
    const grants = renewed.map(({ node: { name, instance }, forMs }): LeaseGrant => {
      return { name: leaseName(name), holder: instance, forMs, heard: true };
    });
    const isLeased = [...state.nodes.values()].some(({ leased }) => leased);
    const isDue = isLeased && this.#plane.nowMs() - this.#attendedMs >= attendMs;
    if (grants.length > 0 || isDue) {
      await log.renewLeases([...grants, this.#role()]);
      this.#attendedMs = this.#plane.nowMs();
    }
    // Only now: what a full disk did not take is written down with the next look.
    for (const [name, one] of heard) if (this.#heard.get(name) === one) this.#heard.delete(name);
    return renewed.map(({ node }) => node).filter(({ presence: { kind } }) => kind === 'suspect' || kind === 'lost');
  }

  /** This process stood still itself: what was sent to it meanwhile is read first. */
  #wasAway(): boolean {
    const nowMs = this.#host.clock.bootMs();
    const isLate =
      this.#lookedMs !== null && nowMs - this.#lookedMs > this.#pauseMs + this.#plane.leaseTimes.leaseMs / 2;
    this.#lookedMs = nowMs;
    return isLate;
  }

  #role(): LeaseGrant {
    return { name: roleName, holder: this.#self, forMs: 3 * attendMs, heard: true };
  }
}

/** Nodes of which something may follow from how long they have been silent. */
function dueNodes(
  state: State,
  { ends, nowMs, leaseTimes }: { ends: ReadonlyMap<string, number>; nowMs: number; leaseTimes: LeaseTimes },
): readonly string[] {
  return [...state.nodes.values()].flatMap((node) => {
    const untilMs = ends.get(leaseName(node.name));
    if (untilMs === undefined || !node.leased || untilMs > nowMs) return [];
    const isLost = state.lossHeld === null && mayBeLost(node) && untilMs + leaseTimes.graceMs <= nowMs;
    return node.presence.kind === 'up' || isLost ? [node.name] : [];
  });
}
