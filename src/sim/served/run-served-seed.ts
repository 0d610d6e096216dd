import type { ControlPlane } from '../../control/control-plane.ts';
import { createMemoryStore } from '../../log/memory.ts';
import { type Cluster, createMachine, keepFlushing, logSeq } from '../cluster.ts';
import { Disk } from '../disk.ts';
import { createHistory } from '../history.ts';
import { createRandom, type Random } from '../random.ts';
import { drawRates, type Rates, scaleRates } from '../rates.ts';
import { heal, isReady, judge, rest, type SeedOptions, type SeedResult, standsStill } from '../run-seed.ts';
import { settleServices, strikeServices } from '../service-phases.ts';
import { drawServiceNames } from '../service-workload.ts';
import { startStrikes, type Targets } from '../strikes.ts';
import { nothingTrimmed, trimRates } from '../trim.ts';
import { createTruth } from '../truth.ts';
import { drawWorkload, type Intent } from '../workload.ts';
import { everySecond, World } from '../world.ts';
import { Hearing } from './hearing.ts';
import { LeaseWatch } from './lease-watch.ts';
import { requestMs, ServedNetwork } from './network.ts';
import { PushedLogs } from './pushed-logs.ts';
import { drawServedRates, type ServedRates, stageRates } from './rates.ts';
import { ServedClient } from './served-client.ts';
import { ServedNode } from './served-node.ts';
import { type ServedTargets, startServedStrikes } from './served-strikes.ts';
import { SimServer } from './sim-server.ts';
import { Ways } from './ways.ts';

const workload = {
  mostJobs: 30,
  stuckShare: 0.25,
  gpuShare: 0.6,
  onNodeLoss: ['replace', 'wait', 'wait', 'fail'],
} as const;
/** The faults of one machine are rarer here: what is waited for takes minutes, and there are many machines. */
const localFaults = 0.2;
const healWithinMs = 4 * 3_600_000;
/** Of so many seeds one is staged: slow commits, long jobs, and a server that goes on through all that strikes nodes. */
const stagedEvery = 5;
const longMs = 600_000;
const slowCommitMs = 800;
/** Leases are long after an outage: what is behind a node that is cut off may be listed for as long. */
const times = { reportMs: 10 * 60_000, settleMs: 30 * 60_000 };

/** Runs one seed with a server and nodes that reach it over a network: everything goes wrong, heals, and rests. */
export async function runServedSeed(seed: number, options: Omit<SeedOptions, 'rates'>): Promise<SeedResult> {
  const { drain, services = false, trim = nothingTrimmed, coverage = false } = options;
  const random = createRandom(seed);
  const world = new World(random.fork(), drain);
  const isStaged = seed % stagedEvery === 0;
  const local = scaleRates(drawRates(random), localFaults);
  const rates = trimRates(isStaged ? { ...local, strikes: { ...local.strikes, reboot: 0 } } : local, trim);
  const usual = drawServedRates(random);
  const served = trimRates(isStaged ? stageRates(random, usual) : usual, trim);
  const drawn = drawWorkload(random.fork(), {
    ...workload,
    longestMs: isStaged ? longMs : random.pick([60_000, 200_000, longMs]),
  });
  const intents = drawn.slice(0, services ? random.below(5) : undefined).slice(0, trim.intents ?? undefined);
  const work = { intents, services };
  const { targets, servedTargets } = populate(
    createServedCluster({ world, random, rates, mostStrikes: trim.strikes ?? Infinity, isStaged }),
    { random, served, work },
  );
  const watch = new LeaseWatch(servedTargets);
  startStrikes(targets);
  startServedStrikes(servedTargets);
  const looking = everySecond(world, () => watch.look());
  const forMs = Math.min(random.between(150_000, 1_200_000), trim.forMs ?? Infinity);
  if (services) await strikeServices(targets, forMs, times.reportMs);
  else await world.run(forMs, looking);
  healAll(targets, servedTargets);
  const healedMs = world.nowMs;
  // What somebody asked for before may still be on its way.
  const isHeard = (): boolean => world.nowMs - healedMs > requestMs;
  const isSettled = (plane: ControlPlane): boolean =>
    isHeard() && isConnected(servedTargets) && isReady(targets, work.intents, plane);
  if (services) await settleServices(targets, isSettled, times);
  const isAtRest = (): boolean =>
    watch.look() || (isHeard() && isConnected(servedTargets) && standsStill(targets, work.intents));
  await world.run(healWithinMs, everySecond(world, isAtRest));
  const { nodes } = servedTargets;
  const kept = nodes.filter((node) => !node.isRetired);
  if (isAtRest()) await rest({ cluster: targets.cluster, nodes: kept });
  return judge(targets.cluster, { seed, intents: intents.length, forMs, coverage });
}

function createServedCluster({
  world,
  random,
  isStaged,
  ...faults
}: {
  world: World;
  random: Random;
  rates: Rates;
  mostStrikes: number;
  isStaged: boolean;
}): Cluster {
  const nodes = random.pick([1, 2, 3, 4, 6, 8]);
  // The server's, that of the people, those of the nodes, and two on which nothing runs.
  const machines = Array.from({ length: 2 + nodes + 2 }, (_, number) => createMachine(world, random, number));
  const store = createMemoryStore();
  const truth = createTruth(() => logSeq({ store }));
  const sharedDisk = new Disk({ wallMs: () => machines[0]?.wallMs() ?? 0, hasJournal: true });
  sharedDisk.makeFolder('/shared/home', 0o700);
  keepFlushing(world, sharedDisk);
  // A slow store leaves room for what happens between a look and what follows from it.
  const commitMs = isStaged ? slowCommitMs : random.pick([2, 2, 50, slowCommitMs]);
  const history = createHistory(truth);
  history.hearing = new Hearing();
  history.logs = new PushedLogs();
  return {
    world,
    random,
    ...faults,
    commitMs,
    killsAtStalls: true,
    machines,
    sharedDisk,
    store,
    truth,
    history,
    lives: new Set(),
  };
}

function populate(
  cluster: Cluster,
  given: {
    readonly random: Random;
    readonly served: ServedRates;
    readonly work: { readonly intents: readonly Intent[]; readonly services: boolean };
  },
): { targets: Targets; servedTargets: ServedTargets } {
  const { random, served, work } = given;
  const [serverMachine, desk, ...others] = cluster.machines;
  if (serverMachine === undefined || desk === undefined) throw new Error('a served seed has at least two machines');
  const hearing = cluster.history.hearing ?? new Hearing();
  const server = new SimServer(cluster, serverMachine, hearing);
  const network = new ServedNetwork(
    new Ways(serverMachine, random.fork(), { rates: served, faults: cluster.history.faults }),
    server,
  );
  const nodes = others.slice(0, -2).map((machine, number) => {
    const name = `node${number}`;
    machine.disk.makeFolder(`/node/${name}`, 0o700);
    machine.disk.flush();
    return new ServedNode(cluster, network, { name, machine, capacity: drawCapacity(random, name) });
  });
  const people = { intents: work.intents, services: work.services ? drawServiceNames(random.fork()) : [] };
  const clients = Array.from(
    { length: 1 + random.below(3) },
    (_, number) => new ServedClient(cluster, network, { name: `client${number}`, machine: desk, ...people }),
  );
  for (const program of [server, ...nodes, ...clients]) {
    cluster.world.schedule(random.between(0, 2000), () => program.start());
  }
  const servedTargets = { cluster, network, server, hearing, nodes, spares: others.slice(-2) };
  return { targets: { cluster, nodes, clients, servers: [server] }, servedTargets };
}

function drawCapacity(random: Random, name: string) {
  const gpus = Array.from({ length: random.pick([0, 0, 1, 2, 4]) }, (_, index) => ({
    uuid: `GPU-${name}-${index}`,
    index,
    name: 'virtual',
    memoryMiB: 1000,
  }));
  return { cpus: random.pick([1, 2, 4, 8]), memoryMiB: 8192, gpus, labels: {} };
}

/** Every agent that is wanted runs, and is the one that speaks for its node. */
function isConnected({ server, nodes }: ServedTargets): boolean {
  const { serving } = server;
  if (serving === null) return false;
  const { connected } = serving.hub;
  return nodes.every(({ name, instance, isRetired, life }) => {
    if (isRetired) return true;
    return life !== null && connected.includes(name) && serving.plane.state.nodes.get(name)?.instance === instance;
  });
}

/** From here on nothing goes wrong: the network is whole, and whoever slept is awake. */
function healAll(targets: Targets, { network, hearing }: ServedTargets): void {
  hearing.isCalm = true;
  if (targets.cluster.history.logs !== null) targets.cluster.history.logs.isFull = false;
  network.ways.heal();
  heal(targets);
}
