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

/** One of the nodes of which the server knows that they are such; null when none is, or nobody listens. */
function pickNode({ cluster, server, nodes }: ServedTargets, isSuch: (node: Node) => boolean): ServedNode | null {
  const known = server.serving?.plane.state.nodes;
  const such = nodes.filter(({ name, life }) => {
    const node = known?.get(name);
    return life !== null && node !== undefined && isSuch(node);
  });
  return such.length === 0 ? null : cluster.random.pick(such);
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
