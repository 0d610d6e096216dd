import type { Command } from '../../core/command.ts';
import { leaseTimes } from '../../core/node/lease-times.ts';
import type { VirtualNode } from './cluster.ts';
import { instanceOf } from './cluster.ts';
import type { NodeEvent, Parts } from './events.ts';
import type { Process } from './processes.ts';
import type { WorkLife } from './work-life.ts';

/** While a loss is held up because too many are silent together, it is looked at this often. */
const lookAgainMs = 60_000;

/** The life of the nodes: they come, fall silent, are repaired, and go. */
export class NodeLife {
  /** When the lease of each silent node ended; those of the others are renewed without end. */
  readonly leases = new Map<string, number>();
  readonly #parts: Parts;
  readonly #work: WorkLife;

  constructor(parts: Parts, work: WorkLife) {
    this.#parts = parts;
    this.#work = work;
  }

  /** The longest that a node is away, or that its loss goes unnoticed. */
  get longestAwayMs(): number {
    const repairs = this.#parts.cluster.groups.map(({ failures }) => failures?.repairMs ?? 0);
    return repairs.reduce((a, b) => Math.max(a, b), leaseTimes.leaseMs + leaseTimes.graceMs) + lookAgainMs;
  }

  start(): void {
    for (const [group, { fromMs, untilMs }] of this.#parts.cluster.groups.entries()) {
      this.#parts.add(fromMs, { kind: 'group-comes', group }, 'yes');
      if (untilMs !== null) this.#parts.add(untilMs, { kind: 'group-goes', group }, 'no');
    }
  }

  commandsOf(event: NodeEvent, nowMs: number): readonly Command[] {
    switch (event.kind) {
      case 'group-comes':
        return this.#parts.cluster.start(event.group).map((node) => this.#join(node, nowMs, []));
      case 'group-goes':
        return this.#drain(event.group);
      case 'failure':
        if (event.node.boots === event.boot) this.#fail(event.node, nowMs);
        return [];
      case 'missed':
        return this.#missed(event, nowMs);
      case 'repair':
        return [this.#join(event.node, nowMs, this.#work.begunOn(event.node.name))];
    }
  }

  /** Nodes whose time is over leave as soon as nothing is on them. */
  follow(): Command[] {
    const { cluster, state, watcher } = this.#parts;
    const commands: Command[] = [];
    for (const node of cluster.leaving) {
      if ((state.nodes.get(node.name)?.allocations.size ?? 0) > 0 || node.silentSinceMs !== null) continue;
      cluster.leaving.delete(node);
      cluster.nodes.delete(node.name);
      watcher.capacity(node, false);
      commands.push({ kind: 'LeaveNode', node: node.name, instance: instanceOf(node) });
      commands.push({ kind: 'RemoveNode', node: node.name, by: 'the simulation' });
    }
    return commands;
  }

  #join(node: VirtualNode, nowMs: number, begun: readonly Process[]): Command {
    const { cluster, draws, watcher } = this.#parts;
    const { failures } = cluster.groupOf(node);
    const inventory = begun.flatMap(({ job, index, attempt, nodes }) =>
      nodes.flatMap((name, rank) => (name === node.name ? [{ job, index, rank, attempt }] : [])),
    );
    const command = cluster.join(node, inventory);
    this.leases.delete(node.name);
    watcher.capacity(node, true);
    if (failures !== null) {
      const waitMs = draws.waitMs(failures.everyMs, `failure.${instanceOf(node)}`);
      this.#parts.add(nowMs + waitMs, { kind: 'failure', node, boot: node.boots }, 'no');
    }
    return command;
  }

  /** Nobody is told: that it is silent is noticed when its lease ends. */
  #fail(node: VirtualNode, nowMs: number): void {
    const { cluster, watcher, add } = this.#parts;
    const { failures } = cluster.groupOf(node);
    if (failures === null || cluster.nodes.get(node.name) !== node) return;
    node.silentSinceMs = nowMs;
    const endsMs = nowMs + leaseTimes.leaseMs;
    this.leases.set(node.name, endsMs);
    watcher.capacity(node, false);
    add(endsMs, { kind: 'missed', node, boot: node.boots }, 'while-work-waits');
    add(nowMs + failures.repairMs, { kind: 'repair', node }, 'while-work-waits');
  }

  #missed({ node, boot }: Extract<NodeEvent, { kind: 'missed' }>, nowMs: number): readonly Command[] {
    const endsMs = this.leases.get(node.name);
    if (node.boots !== boot || endsMs === undefined) return [];
    const { graceMs } = leaseTimes;
    const againMs = nowMs < endsMs + graceMs ? endsMs + graceMs : nowMs + lookAgainMs;
    if (this.#parts.state.nodes.get(node.name)?.presence.kind !== 'lost') {
      this.#parts.add(againMs, { kind: 'missed', node, boot }, 'while-work-waits');
    }
    return [{ kind: 'CheckLeases', nodes: [node.name] }];
  }

  #drain(group: number): readonly Command[] {
    const { cluster } = this.#parts;
    const commands: Command[] = [];
    for (const node of cluster.nodes.values()) {
      if (node.group !== group) continue;
      node.leaving = true;
      cluster.leaving.add(node);
      const reason = 'its time is over';
      commands.push({ kind: 'DrainNode', node: node.name, reason, by: 'the simulation', deadlineMs: null });
    }
    return commands;
  }
}
