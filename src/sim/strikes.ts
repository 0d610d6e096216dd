import { type Cluster, mayStrike } from './cluster.ts';
import type { Life } from './life.ts';
import type { Machine } from './machine.ts';
import type { VirtualProcess } from './process-table.ts';
import { type StrikeKind, strikeKinds } from './rates.ts';
import type { SimNode } from './sim-node.ts';

/** Those whom a fault can strike. */
export interface Targets {
  readonly cluster: Cluster;
  readonly nodes: readonly NodeProgram[];
  readonly clients: readonly ClientProgram[];
  /** Servers, where there are any. */
  readonly servers?: readonly SimProgram[];
}

/** A program that is started again whenever it is gone. */
export interface SimProgram {
  readonly name: string;
  readonly machine: Machine;
  readonly life: Life | null;
  start(): void;
}

/** Somebody who asks for things. */
export interface ClientProgram extends SimProgram {
  /** Once the world has healed: what is open is brought to its end, and nothing new is thought of. */
  isCalm: boolean;
  /** At the end of a seed with services: none may stay up. */
  isClosing: boolean;
}

/** An agent, with the control plane that it is told of by. */
export interface NodeProgram extends SimProgram, Pick<SimNode, 'plane'> {
  /** Ends it in good order. */
  close(): void;
}

/** Lets every kind of fault strike at random times, as often as the rates say, until they are zero. */
export function startStrikes(targets: Targets): void {
  for (const kind of strikeKinds) scheduleNext(targets, kind);
}

function scheduleNext(targets: Targets, kind: StrikeKind): void {
  const { world, random, rates } = targets.cluster;
  const perMinute = rates.strikes[kind];
  if (perMinute <= 0) return;
  const waitMs = (-Math.log(1 - random.fraction()) / perMinute) * 60_000;
  world.schedule(waitMs, () => {
    if (targets.cluster.rates.strikes[kind] <= 0) return;
    if (!mayStrike(targets.cluster, kind)) return;
    strikes[kind](targets);
    scheduleNext(targets, kind);
  });
}

const strikes: Readonly<Record<StrikeKind, (targets: Targets) => void>> = {
  agentKill: ({ cluster, nodes }) => crashSome(cluster, nodes),
  agentClose: ({ cluster, nodes }) => cluster.random.pick(nodes).close(),
  clientKill: ({ cluster, clients }) => crashSome(cluster, clients),
  shimKill: ({ cluster }) => killSome(cluster, 'shim'),
  jobKill: ({ cluster }) => killSome(cluster, cluster.random.pick(['command', 'child'] as const)),
  reboot: (targets) => reboot(targets),
  wallJump: ({ cluster }) => {
    const machine = cluster.random.pick(cluster.machines);
    machine.skewMs += cluster.random.pick([-1, 1]) * cluster.random.pick([500, 60_000, 86_400_000]);
    cluster.world.note(machine.name, `has its clock ${Math.round(machine.skewMs)} ms off`);
  },
  slowDisk: ({ cluster }) => {
    const machine = cluster.random.pick(cluster.machines);
    machine.slowness = cluster.random.pick([20, 200, 2000]);
    cluster.world.schedule(cluster.random.between(100, 5000), () => {
      machine.slowness = 1;
    });
  },
  fullDisk: ({ cluster, nodes }) => {
    const machine = cluster.random.pick(cluster.machines);
    for (const node of nodes) cluster.truth.troubled.add(node.name);
    const disk = cluster.random.pick([machine.disk, machine.disk, cluster.sharedDisk]);
    disk.fill(true);
    cluster.world.note(machine.name, 'has a full disk');
    cluster.world.schedule(cluster.random.between(100, 20_000), () => disk.fill(false));
  },
  squatPorts: ({ cluster }) => {
    const from = 20_000 + cluster.random.below(12_000);
    cluster.random.pick(cluster.machines).squatted = { from, to: from + cluster.random.below(12_000) };
  },
  strangers: ({ cluster }) => startStranger(cluster),
};

/** At once, or at one of the next calls to the outside. */
export function crashSome({ random, world }: Cluster, programs: readonly SimProgram[]): void {
  const program = random.pick(programs);
  if (program.life === null) return;
  const { incarnation } = program.life;
  if (random.happens(0.3)) {
    world.note(program.name, 'is killed');
    incarnation.kill();
  } else {
    incarnation.crashAtCall(1 + random.below(80), random.pick(['before', 'after']));
  }
}

function killSome({ random, machines, world }: Cluster, role: VirtualProcess['role']): void {
  const machine = random.pick(machines);
  const chosen = machine.table.processes().filter((process) => process.role === role);
  if (chosen.length === 0) return;
  const victim = random.pick(chosen);
  world.note(machine.name, `kills process ${victim.pid}, the ${role} of ${victim.mark ?? 'an attempt'}`);
  machine.table.signal(victim, 'SIGKILL');
}

function startStranger({ random, machines, world }: Cluster): void {
  const { table } = random.pick(machines);
  if (table.processes().length > 60) return;
  const stranger = table.start({ role: 'bystander', parent: null, leads: true, mark: null, logsIn: null });
  world.schedule(random.between(1, 20_000), () => table.end(stranger, null));
}

function reboot({ cluster, nodes, clients, servers = [] }: Targets): void {
  const { random, world, truth } = cluster;
  const machine = random.pick(cluster.machines);
  if (!machine.isUp) return;
  const losesPower = random.happens(0.5);
  world.note(machine.name, losesPower ? 'loses power' : 'reboots');
  machine.goDown();
  const here = <T extends { readonly machine: Machine }>(all: readonly T[]): readonly T[] =>
    all.filter((one) => one.machine === machine);
  for (const program of [...here(nodes), ...here(clients), ...here(servers)]) program.life?.incarnation.kill();
  const names = new Set(here(nodes).map(({ name }) => name));
  for (const name of names) truth.troubled.add(name);
  for (const process of truth.processes) {
    if (process.endMs === null && names.has(process.node)) process.endMs = world.nowMs;
  }
  if (losesPower) {
    machine.disk.losePower(random);
    if (cluster.machines.length === 1) cluster.sharedDisk.losePower(random);
  }
  world.schedule(random.between(500, 20_000), () => {
    machine.comeUp();
    world.note(machine.name, `is up again as ${machine.bootId()}`);
    for (const program of [...here(nodes), ...here(clients), ...here(servers)]) program.start();
  });
}
