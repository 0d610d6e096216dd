import { leaseTimes } from '../../core/node/lease-times.ts';
import type { Node } from '../../core/node/node.ts';
import type { ServedNode } from './served-node.ts';
import type { ServedTargets } from './served-strikes.ts';

/**
 * Kills an agent and lets the next one in just when the lease ends: between a look at the leases and what follows from
 * it, the node has joined.
 */
export function returnLate(targets: ServedTargets): void {
  const { cluster, server, hearing } = targets;
  const { random } = cluster;
  const node = pickNode(targets, ({ presence }) => presence.kind === 'up');
  const heard = hearing.heards.findLast((one) => one.node === node?.name);
  if (node === null || heard === undefined || server.serving === null) return;
  const leftMs = heard.atMs + leaseTimes.leaseMs - server.serving.plane.nowMs();
  cutOff(targets, node, leftMs + random.between(-500, 2000));
  node.life?.incarnation.kill();
}

/** Cuts a machine off while it works, until what it was given would be given to others if it were taken to be free. */
export function loseAtWork(targets: ServedTargets): void {
  const { cluster, network } = targets;
  const { random, world } = cluster;
  const node = pickNode(targets, ({ presence, allocations }) => presence.kind === 'up' && allocations.size > 0);
  if (node === null) return;
  const { leaseMs, graceMs } = leaseTimes;
  const { machine } = node;
  const forMs = leaseMs + graceMs + random.between(20_000, 200_000);
  const slowness = random.pick([1, 200, 2000]);
  const slowMs = random.between(5000, 60_000);
  cutOff(targets, node, forMs);
  world.schedule(forMs, () => {
    if (network.ways.rates.strikes.lostAtWork === 0) return;
    machine.slowness = slowness;
    world.schedule(slowMs, () => {
      machine.slowness = 1;
    });
  });
}

/** Longer than it takes to send a heartbeat, and too short for anybody to take the connection for dead. */
const heldMs = 8000;
const instantMs = 20;

/**
 * Two machines fall silent, and a third one just so that its lease is over when the first of them would be lost: with it
 * they are many, and none may be.
 */
export function silenceThree(targets: ServedTargets): void {
  const { cluster, network, server, hearing } = targets;
  const { world, random } = cluster;
  const up = nodesThat(targets, ({ presence }) => presence.kind === 'up');
  const [first, second, third] = up.length < 3 ? [] : rotated(up, random.below(up.length));
  const heard = hearing.heards.findLast((one) => one.node === first?.name);
  if (first === undefined || second === undefined || third === undefined) return;
  if (heard === undefined || server.serving === null) return;
  const { leaseMs, graceMs } = leaseTimes;
  const forMs = leaseMs + graceMs + 60_000;
  cutOff(targets, first, forMs);
  cutOff(targets, second, forMs);
  // What the third one says last arrives just then.
  const untilMs = heard.atMs + graceMs - server.serving.plane.nowMs();
  const { toServer } = network.ways.pathOf(third.machine);
  world.schedule(untilMs - heldMs, () => cutOff(targets, third, heldMs + leaseMs + 60_000));
  world.schedule(untilMs, () => network.ways.open(toServer));
  world.schedule(untilMs + instantMs, () => network.ways.close(toServer));
}

function rotated<Item>(items: readonly Item[], by: number): readonly Item[] {
  return [...items.slice(by), ...items.slice(0, by)];
}

/** One of the nodes of which the server knows that they are such; null when none is, or nobody listens. */
function pickNode(targets: ServedTargets, isSuch: (node: Node) => boolean): ServedNode | null {
  const such = nodesThat(targets, isSuch);
  return such.length === 0 ? null : targets.cluster.random.pick(such);
}

function nodesThat({ server, nodes }: ServedTargets, isSuch: (node: Node) => boolean): ServedNode[] {
  const known = server.serving?.plane.state.nodes;
  return nodes.filter(({ name, life }) => {
    const node = known?.get(name);
    return life !== null && node !== undefined && isSuch(node);
  });
}

function cutOff({ cluster, network }: ServedTargets, { machine }: ServedNode, forMs: number): void {
  const { world } = cluster;
  const { toServer, fromServer } = network.ways.pathOf(machine);
  world.note('network', `cuts ${machine.name} off for ${Math.round(forMs)} ms`);
  network.ways.close(toServer);
  network.ways.close(fromServer);
  world.schedule(forMs, () => {
    network.ways.open(toServer);
    network.ways.open(fromServer);
    world.note('network', `has ${machine.name} again`);
  });
}
