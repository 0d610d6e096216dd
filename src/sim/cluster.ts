import { createMemoryStore, type MemoryStore } from '../log/memory.ts';
import { Disk } from './disk.ts';
import { createHistory, type History } from './history.ts';
import type { Life } from './life.ts';
import { Machine } from './machine.ts';
import type { Random } from './random.ts';
import type { ChanceKind, Rates } from './rates.ts';
import { createTruth, type Truth } from './truth.ts';
import type { World } from './world.ts';

/** Everything that a seed's programs share: machines, the store of the log, the disk of the home, and what is known of it all. */
export interface Cluster {
  readonly world: World;
  readonly random: Random;
  /** Faults of this moment; none once the world has been healed. */
  rates: Rates;
  /** No more sudden faults than so many. */
  readonly mostStrikes: number;
  /** A commit takes at most so long until it has the lock, in milliseconds. */
  readonly commitMs: number;
  /** Agents are often killed just when a shim of theirs gets no time. */
  readonly killsAtStalls: boolean;
  readonly machines: readonly Machine[];
  readonly sharedDisk: Disk;
  readonly store: MemoryStore;
  readonly truth: Truth;
  readonly history: History;
  /** Programs that are alive. */
  readonly lives: Set<Life>;
}

export const blobDirectory = '/shared/home/blobs';

export function createCluster(options: { world: World; random: Random; rates: Rates; mostStrikes: number }): Cluster {
  const { world, random, rates, mostStrikes } = options;
  const count = random.happens(0.7) ? 1 : 2 + random.below(2);
  const machines = Array.from({ length: count }, (_, number) => createMachine(world, random, number));
  const store = createMemoryStore();
  const truth = createTruth(() => logSeq({ store }));
  const sharedDisk = new Disk({ wallMs: () => machines[0]?.wallMs() ?? 0, hasJournal: random.happens(0.6) });
  sharedDisk.makeFolder('/shared/home', 0o700);
  keepFlushing(world, sharedDisk);
  return {
    world,
    random,
    rates,
    mostStrikes,
    commitMs: 2,
    killsAtStalls: false,
    machines,
    sharedDisk,
    store,
    truth,
    history: createHistory(truth),
    lives: new Set(),
  };
}

/** A machine with what every machine has. */
export function createMachine(world: World, random: Random, number: number): Machine {
  const machine = new Machine(world, {
    name: `machine${number}`,
    pids: random.pick([150, 1000, 30_000]),
    skewMs: random.between(-2000, 2000),
    shimReaps: random.happens(0.6),
    hasJournal: random.happens(0.6),
  });
  machine.disk.makeFolder('/bin', 0o755);
  machine.disk.open('/bin/bash', { mode: 0o755 });
  keepFlushing(world, machine.disk);
  return machine;
}

const flushEveryMs = 15_000;

/** What was written is on the disk for good some seconds later. */
export function keepFlushing(world: World, disk: Disk): void {
  disk.flush();
  world.schedule(flushEveryMs, () => keepFlushing(world, disk));
}

/** Number of facts in the log. */
export function logSeq(cluster: Pick<Cluster, 'store'>): number {
  return cluster.store.tables?.head().lastSeq ?? 0;
}

/** Whether a fault happens to what is done just now. */
export function strikesNow(
  { rates, random, history }: Pick<Cluster, 'rates' | 'random' | 'history'>,
  kind: ChanceKind,
): boolean {
  const chance = rates.chances[kind];
  const strikes = chance > 0 && random.happens(chance);
  if (strikes) history.faults.add(kind);
  return strikes;
}

/** Notes that a sudden fault is about to strike; false when it is one too many. */
export function mayStrike({ history, mostStrikes, world }: Cluster, kind: string): boolean {
  if (history.struck.length >= mostStrikes) return false;
  history.struck.push({ atMs: world.nowMs, kind });
  history.faults.add(kind);
  return true;
}
