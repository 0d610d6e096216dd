import { type Cluster, mayStrike } from '../cluster.ts';
import type { Disk } from '../disk.ts';
import type { Machine } from '../machine.ts';
import { crashSome } from '../strikes.ts';
import type { Hearing } from './hearing.ts';
import type { ServedNetwork } from './network.ts';
import { type ServedStrikeKind, servedStrikeKinds } from './rates.ts';
import { ServedNode } from './served-node.ts';
import type { SimServer } from './sim-server.ts';
import { loseAtWork, returnLate, silenceThree } from './staged-strikes.ts';
import type { Way } from './ways.ts';

/** Those whom a fault of the served world can strike. */
export interface ServedTargets {
  readonly cluster: Cluster;
  readonly network: ServedNetwork;
  readonly server: SimServer;
  readonly hearing: Hearing;
  /** Clones come to it. */
  readonly nodes: ServedNode[];
  /** Machines on which nothing runs, for the copies of others. */
  readonly spares: Machine[];
}

/** Lets every kind of fault strike at random times, as often as the rates say, until they are zero. */
export function startServedStrikes(targets: ServedTargets): void {
  for (const kind of servedStrikeKinds) scheduleNext(targets, kind);
}

function scheduleNext(targets: ServedTargets, kind: ServedStrikeKind): void {
  const { world, random } = targets.cluster;
  const { ways } = targets.network;
  const perMinute = ways.rates.strikes[kind];
  if (perMinute <= 0) return;
  world.schedule((-Math.log(1 - random.fraction()) / perMinute) * 60_000, () => {
    if (ways.rates.strikes[kind] <= 0) return;
    if (!mayStrike(targets.cluster, kind)) return;
    strikes[kind](targets);
    scheduleNext(targets, kind);
  });
}

const strikes: Readonly<Record<ServedStrikeKind, (targets: ServedTargets) => void>> = {
  serverKill: ({ cluster, server }) => crashSome(cluster, [server]),
  serverClose: ({ server }) => server.close(),
  cut: (targets) => cutMachines(targets, [targets.cluster.random.pick(targets.nodes).machine]),
  massCut: (targets) => {
    const { random } = targets.cluster;
    cutMachines(
      targets,
      targets.nodes.map(({ machine }) => machine).filter(() => random.happens(0.7)),
    );
  },
  swizzle: ({ cluster, network }) => {
    const { random, world } = cluster;
    const clogged = network.ways.all.filter(() => random.happens(0.5));
    world.note('network', `clogs ${clogged.length} ways`);
    for (const way of clogged) {
      world.schedule(random.between(0, 20_000), () => network.ways.close(way));
      world.schedule(random.between(20_000, 60_000), () => network.ways.open(way));
    }
  },
  blackhole: ({ cluster, network }) => {
    const { random, world } = cluster;
    if (network.open.length === 0) return;
    const end = random.pick(network.open);
    world.note('network', `swallows what ${end.life.name} and the server say`);
    end.swallow();
  },
  logsFull: ({ cluster: { world, random, history } }) => {
    if (history.logs === null || history.logs.isFull) return;
    const { logs } = history;
    world.note('server', 'has no room for logs');
    logs.isFull = true;
    world.schedule(random.between(5000, 200_000), () => {
      logs.isFull = false;
    });
  },
  sleep: ({ cluster, hearing, server }) => {
    const { random, world } = cluster;
    const machine = random.pick(cluster.machines);
    if (!machine.isUp || machine.sleeps) return;
    const forMs = random.pick([5000, 45_000, 150_000, 600_000]) * random.between(0.5, 1);
    world.note(machine.name, `sleeps for ${Math.round(forMs)} ms`);
    machine.sleep(forMs);
    if (machine !== server.machine || forMs < longestUnattendedMs) return;
    const { serving } = server;
    world.schedule(forMs, () => {
      if (serving !== null && server.serving === serving) hearing.began(serving.plane.nowMs());
    });
  },
  clone: (targets) => cloneSome(targets),
  lateReturn: (targets) => returnLate(targets),
  lostAtWork: (targets) => loseAtWork(targets),
  thirdSilent: (targets) => silenceThree(targets),
};

/** After longer than this a server takes all leases to be long. */
const longestUnattendedMs = 60_500;

/** One way only, or both; for less than a lease, or for longer than lease and grace together. */
function cutMachines({ cluster, network }: ServedTargets, machines: readonly Machine[]): void {
  const { random, world } = cluster;
  const forMs = random.pick([4000, 25_000, 60_000, 150_000, 300_000]) * random.between(0.7, 1.3);
  const kind = random.pick(['both', 'both', 'toServer', 'fromServer'] as const);
  const ways = machines.flatMap((machine): readonly Way[] => {
    const { toServer, fromServer } = network.ways.pathOf(machine);
    return kind === 'both' ? [toServer, fromServer] : [kind === 'toServer' ? toServer : fromServer];
  });
  const names = machines.map(({ name }) => name).join(', ');
  world.note('network', `cuts ${names} off (${kind}) for ${Math.round(forMs)} ms`);
  for (const way of ways) network.ways.close(way);
  world.schedule(forMs, () => {
    for (const way of ways) network.ways.open(way);
    world.note('network', `has ${names} again`);
  });
}

function cloneSome({ cluster, network, nodes, spares }: ServedTargets): void {
  const { random, world } = cluster;
  const origin = random.pick(nodes);
  const machine = spares.pop();
  const hasRoom = machine !== undefined && machine.disk.freeBytes > 1024 ** 3;
  if (machine === undefined || !hasRoom || !origin.machine.isUp || origin.isRetired) return;
  const { name, capacity } = origin;
  copyFolder(origin.machine.disk, machine.disk, `/node/${name}`);
  machine.disk.flush();
  world.note(machine.name, `has a copy of ${origin.machine.name}`);
  const clone = new ServedNode(cluster, network, { name, machine, capacity });
  nodes.push(clone);
  cluster.truth.troubled.add(name);
  cluster.history.cloned.add(name);
  clone.start();
}

function copyFolder(from: Disk, to: Disk, path: string): void {
  const folder = from.find(path);
  if (folder?.kind !== 'directory') return;
  to.makeFolder(path, folder.mode);
  for (const [name, child] of folder.children) {
    const below = `${path}/${name}`;
    if (child.kind === 'directory') copyFolder(from, to, below);
    else if (child.kind === 'link') to.makeLink(child.target, below);
    else {
      const file = to.open(below, { mode: child.mode });
      if (file !== null) to.setBytes(below, file, child.bytes.slice());
    }
  }
}
