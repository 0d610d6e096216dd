import type { ControlPlane } from '../control/control-plane.ts';
import type { State } from '../core/state.ts';
import { checkers } from './checkers/all.ts';
import { check } from './checkers/checker.ts';
import { unrest } from './checkers/of-the-rest.ts';
import { type Cluster, createCluster, logSeq } from './cluster.ts';
import { rowsOf } from './coverage.ts';
import { createRandom, type Random } from './random.ts';
import { drawRates, noRates, type Rates, scaleRates } from './rates.ts';
import { settleServices, strikeServices } from './service-phases.ts';
import { drawServiceNames } from './service-workload.ts';
import { SimClient } from './sim-client.ts';
import { SimNode } from './sim-node.ts';
import { startStrikes, type Targets } from './strikes.ts';
import { nothingTrimmed, type Trim, trimRates } from './trim.ts';
import { virtualHash } from './virtual-hash.ts';
import { drawWorkload, type Intent } from './workload.ts';
import { type Drain, everySecond, World } from './world.ts';

export interface SeedOptions {
  readonly drain: Drain;
  /** How often things go wrong; drawn from the seed when absent. */
  readonly rates?: Rates;
  /** People also meddle with services, which stay up; a seed is another one then. */
  readonly services?: boolean;
  /** What is left out of it. */
  readonly trim?: Trim;
  /** Says which rows of which tables it brought about. */
  readonly coverage?: boolean;
}

export interface SeedResult {
  readonly seed: number;
  /** Equal for two runs of one seed, whatever else the machine does. */
  readonly hash: string;
  readonly events: number;
  readonly virtualMs: number;
  readonly violations: readonly string[];
  /** Kinds of faults that happened, and how many sudden ones. */
  readonly faults: readonly string[];
  readonly strikes: number;
  /** The sudden ones, when each struck. */
  readonly schedule: readonly string[];
  /** How much was to be submitted, and how long everything went wrong, in virtual milliseconds. */
  readonly intents: number;
  readonly forMs: number;
  /** What it brought about of all that seeds should (coverage.ts); empty unless asked for. */
  readonly rows: ReadonlySet<string>;
  readonly trace: readonly string[];
  /** The facts, a batch a line: log time, number of the first, and what they say. */
  readonly log: readonly string[];
}

/** Everything must have come to its end this long after the world has healed. */
const healWithinMs = 40 * 60_000;
const restMs = 2 * 60_000;

/** Runs one seed: first everything goes wrong, then nothing does any more, then nothing may happen. */
export async function runSeed(seed: number, options: SeedOptions): Promise<SeedResult> {
  const random = createRandom(seed);
  const world = new World(random.fork(), options.drain);
  const hasServices = options.services === true;
  const drawn = options.rates ?? drawRates(random);
  const { trim = nothingTrimmed } = options;
  const rates = trimRates(hasServices ? scaleRates(drawn, serviceFaults) : drawn, trim);
  const mostStrikes = trim.strikes ?? Infinity;
  const cluster = createCluster({ world, random: random.fork(), rates, mostStrikes });
  const intents = drawWorkload(random.fork())
    .slice(0, hasServices ? random.below(5) : undefined)
    .slice(0, trim.intents ?? undefined);
  const targets = populate(cluster, random, { intents, services: hasServices ? drawServiceNames(random.fork()) : [] });
  startStrikes(targets);
  const drawnMs = hasServices ? random.between(40_000, 180_000) : random.between(20_000, 150_000);
  const forMs = Math.min(drawnMs, trim.forMs ?? Infinity);
  if (hasServices) await strikeServices(targets, forMs);
  else await world.run(forMs);
  heal(targets);
  if (hasServices) await settleServices(targets, (plane) => isReady(targets, intents, plane));
  const isAtRest = (): boolean => standsStill(targets, intents);
  await world.run(healWithinMs, everySecond(world, isAtRest));
  if (isAtRest()) await rest(targets);
  return judge(cluster, { seed, intents: intents.length, forMs, coverage: options.coverage === true });
}

/** Where services are watched, faults are rarer: a rollout takes longer than a job, and shall have its chance. */
const serviceFaults = 0.4;

function populate(
  cluster: Cluster,
  random: Random,
  work: { readonly intents: readonly Intent[]; readonly services: readonly string[] },
): Targets {
  const machineOf = (number: number) =>
    cluster.machines[number % cluster.machines.length] ?? random.pick(cluster.machines);
  const nodes = Array.from({ length: 1 + random.below(4) }, (_, number) => {
    const name = `node${number}`;
    const gpus = Array.from({ length: random.pick([0, 0, 1, 2, 4]) }, (_gpu, index) => ({
      uuid: `GPU-${name}-${index}`,
      index,
      name: 'virtual',
      memoryMiB: 1000,
    }));
    const capacity = { cpus: random.pick([1, 2, 4, 8]), memoryMiB: 8192, gpus, labels: {} };
    const machine = machineOf(number);
    machine.disk.makeFolder(`/node/${name}`, 0o700);
    machine.disk.flush();
    return new SimNode(cluster, { name, machine, capacity });
  });
  const clients = Array.from(
    { length: 1 + random.below(3) },
    (_, number) => new SimClient(cluster, { name: `client${number}`, machine: machineOf(number), ...work }),
  );
  for (const program of [...nodes, ...clients]) cluster.world.schedule(random.between(0, 2000), () => program.start());
  return { cluster, nodes, clients };
}

/** From here on nothing goes wrong: clocks are set right, disks have room, and whoever is down comes up. */
export function heal({ cluster, clients }: Targets): void {
  cluster.world.note('world', 'is healed');
  cluster.rates = noRates;
  for (const machine of cluster.machines) {
    machine.skewMs = 0;
    machine.wake();
    machine.slowness = 1;
    machine.squatted = { from: 0, to: 0 };
    machine.disk.fill(false);
    for (const process of machine.table.processes()) machine.table.release(process);
  }
  cluster.sharedDisk.fill(false);
  for (const client of clients) client.isCalm = true;
  // An agent that does little would come to the call at which it was to be killed long after.
  for (const { incarnation } of cluster.lives) incarnation.spare();
}

export function standsStill(targets: Targets, intents: readonly Intent[]): boolean {
  const { cluster, nodes } = targets;
  const [plane] = nodes.flatMap((node) => (node.plane === null ? [] : [node.plane]));
  if (plane === undefined || nodes.some((node) => node.plane?.seq !== logSeq(cluster))) return false;
  if (plane.state.services.size > 0 || cluster.truth.processes.some(({ endMs }) => endMs === null)) return false;
  return isReady(targets, intents, plane) && unrest(plane.state, plane.nowMs()).length === 0;
}

/** Whoever wanted something has been answered, and every node has come back. */
export function isReady({ nodes }: Targets, intents: readonly Intent[], { state }: ControlPlane): boolean {
  const names = new Set(nodes.map(({ name }) => name));
  return intents.every((intent) => intent.isAnswered) && isOpen(state, names.size);
}

/** Every node has come back and takes work, and no quota holds any back. */
function isOpen({ nodes: known, access }: State, nodes: number): boolean {
  const open = [...known.values()].filter(({ presence, drain }) => presence.kind === 'up' && drain === null);
  const isFree = [...access.projects.values()].every(({ quota }) =>
    Object.values(quota).every((limit) => limit === null),
  );
  return open.length === nodes && isFree;
}

/** Nothing may happen any more. */
export async function rest({ cluster, nodes }: Pick<Targets, 'cluster' | 'nodes'>): Promise<void> {
  const { world, history } = cluster;
  await world.run(5000);
  for (const { name, machine } of nodes) {
    const kept = machine.disk.find(`/node/${name}/attempts`);
    if (kept?.kind === 'directory') history.leftovers.push(...[...kept.children.keys()].map((one) => `${name}/${one}`));
    const own = machine.disk.find(`/node/${name}`);
    const files = own?.kind === 'directory' ? [...own.children.keys()] : [];
    history.leftovers.push(...files.filter((one) => one.startsWith('secret-files-')).map((one) => `${name}/${one}`));
  }
  const startSeq = logSeq(cluster);
  await world.run(restMs);
  history.rest = { startSeq, endSeq: logSeq(cluster) };
}

/** Holds what happened against every promise. */
export function judge(
  { world, store, random, history }: Cluster,
  given: { readonly seed: number; readonly intents: number; readonly forMs: number; readonly coverage: boolean },
): SeedResult {
  history.batches = store.tables?.batchesAfter(0, Number.MAX_SAFE_INTEGER) ?? [];
  const violations = check(history, checkers);
  // Of an error's text only the first line: the rest says where the simulator was called from.
  const found = violations.map((violation) => violation.split('\n', 1)[0]);
  const end = [...world.trace, world.events, store.tables?.head().lastHash, random.fraction(), ...found];
  const hash = virtualHash(new TextEncoder().encode(end.join('\n')));
  const { struck, faults } = history;
  const { coverage, ...about } = given;
  return {
    ...about,
    hash,
    events: world.events,
    virtualMs: world.nowMs,
    violations,
    faults: [...faults],
    strikes: struck.length,
    schedule: struck.map(({ atMs, kind }) => `${(atMs / 1000).toFixed(3).padStart(9)} s  ${kind}`),
    rows: coverage ? rowsOf(history) : new Set(),
    trace: world.trace,
    get log() {
      return history.batches.map(({ nowMs, seq, factsText }) => `${nowMs.toFixed(0)} ${seq} ${factsText}`);
    },
  };
}
