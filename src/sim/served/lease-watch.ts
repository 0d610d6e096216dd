import { parseTaskKey } from '../../core/job/job.ts';
import { mayBeLost } from '../../core/node/decide-leases.ts';
import { leaseTimes } from '../../core/node/lease-times.ts';
import type { Node } from '../../core/node/node.ts';
import type { State } from '../../core/state.ts';
import type { ServedTargets } from './served-strikes.ts';
import type { Serving } from './sim-server.ts';

/** A server looks once a second; a slow store, or one commit that has to wait, may add to that. */
const slackMs = 30_000;

/** Looks once a second whether a server that has listened all the while has done what was due. */
export class LeaseWatch {
  readonly #targets: ServedTargets;
  #serving: Serving | null = null;
  #heldUntilMs = 0;
  #sinceMs = 0;
  readonly #told = new Set<string>();

  constructor(targets: ServedTargets) {
    this.#targets = targets;
  }

  /** Always false: it is asked between other things whether they are over. */
  look(): boolean {
    const { server, cluster } = this.#targets;
    const { serving } = server;
    const isGoing = serving !== null && server.machine.isUp && !server.machine.sleeps;
    if (!isGoing || serving !== this.#serving) {
      this.#serving = isGoing ? serving : null;
      this.#sinceMs = cluster.world.nowMs;
      // That loss is held back may begin and end between two looks, and all who are silent get their grace again.
      this.#serving?.plane.subscribe(({ facts, nowMs }) => {
        if (facts.some(({ kind }) => kind === 'LossReleased')) this.#heldUntilMs = nowMs;
      });
      return false;
    }
    const nowMs = serving.plane.nowMs();
    const { state } = serving.plane;
    if (state.lossHeld !== null) this.#heldUntilMs = nowMs;
    for (const node of state.nodes.values()) {
      this.#lookAtLease(node, nowMs);
      this.#lookAtDrain(node, state, nowMs);
    }
    return false;
  }

  #lookAtLease(node: Node, nowMs: number): void {
    const { hearing, cluster } = this.#targets;
    const { leaseMs, graceMs, afterOutageMs } = leaseTimes;
    if (cluster.world.nowMs - this.#sinceMs < afterOutageMs + graceMs + slackMs) return;
    if (!node.leased || !(node.presence.kind === 'up' || mayBeLost(node))) return;
    const heard = hearing.heards.findLast((one) => one.node === node.name && one.instance === node.instance);
    const signMs = Math.max(heard?.atMs ?? -Infinity, node.joinedAtMs);
    const lateMs = nowMs - Math.max(signMs + leaseMs, this.#heldUntilMs) - graceMs - slackMs;
    if (lateMs > 0) this.#tell(`${node.name} is not lost though silent since ${Math.round(signMs)} (${node.instance})`);
  }

  #lookAtDrain({ name, drain, allocations }: Node, state: State, nowMs: number): void {
    if (drain?.deadlineAtMs == null || nowMs - drain.deadlineAtMs < slackMs) return;
    if (this.#targets.cluster.world.nowMs - this.#sinceMs < slackMs) return;
    for (const text of allocations.keys()) {
      const key = parseTaskKey(text);
      const element = key === null ? undefined : state.jobs.get(key.job)?.elements.get(key.index);
      if (element?.kind !== 'live' || element.attempt !== key?.attempt || element.verdict !== null) continue;
      this.#tell(`${text} goes on at ${name}, which had to be empty by ${drain.deadlineAtMs}`);
    }
  }

  #tell(problem: string): void {
    if (this.#told.has(problem)) return;
    this.#told.add(problem);
    this.#targets.cluster.history.overdue.push(problem);
  }
}
