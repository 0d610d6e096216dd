import type { ControlPlane } from '../control/control-plane.ts';
import { logSeq } from './cluster.ts';
import { watchEndpoints } from './endpoint-watch.ts';
import { isQuiet, unsettledServices } from './service-rest.ts';
import type { Targets } from './strikes.ts';
import { everySecond } from './world.ts';

/** What an agent may miss while it is down, its disk full or its machine off, until it tells. */
const strickenReportMs = 90_000;
/** Without faults an end is told at once; a hung process only once its probe has failed often enough. */
const calmReportMs = 3000;
/** Rollouts end by their deadlines, and what failed often waits for its backoff. */
const usualTimes: SettleTimes = { reportMs: strickenReportMs, settleMs: 10 * 60_000 };
const steadyMs = 30_000;

export interface SettleTimes {
  /** What may be missed for so long until it is told, for as long after the world has healed. */
  readonly reportMs: number;
  /** Services stand as they should so long after that at the latest. */
  readonly settleMs: number;
}

/** Everything goes wrong, and people meddle. */
export async function strikeServices(targets: Targets, forMs: number, reportMs = strickenReportMs): Promise<void> {
  const { world } = targets.cluster;
  await world.run(
    forMs,
    everySecond(world, () => look(targets, reportMs)),
  );
}

/**
 * After the world has healed: waits until every service stands as it should, sees that those which do append nothing,
 * then has them removed.
 */
export async function settleServices(
  targets: Targets,
  isReady: (plane: ControlPlane) => boolean,
  { reportMs, settleMs }: SettleTimes = usualTimes,
): Promise<void> {
  const { cluster, clients } = targets;
  const { world, history } = cluster;
  const healedMs = world.nowMs;
  for (const { incarnation } of cluster.lives) incarnation.spare();
  const problems = (): readonly string[] => {
    const plane = planeOf(targets);
    return plane === null ? ['no agent runs'] : unsettledServices(plane.state, plane.nowMs());
  };
  const isSettled = (): boolean => {
    look(targets, world.nowMs - healedMs < reportMs ? reportMs : calmReportMs);
    const plane = planeOf(targets);
    const isThere = targets.nodes.every((node) => node.plane?.seq === logSeq(cluster));
    return isThere && plane !== null && isReady(plane) && problems().length === 0;
  };
  await world.run(settleMs, everySecond(world, isSettled));
  history.unsettled.push(...problems());
  await staySteady(targets);
  for (const client of clients) client.isClosing = true;
}

async function staySteady(targets: Targets): Promise<void> {
  const { cluster } = targets;
  const { world, history } = cluster;
  await world.run(5000);
  const plane = planeOf(targets);
  if (plane === null) return;
  const { state } = plane;
  const isAlone = [...state.jobs.values()].every(({ service, outcome }) => service !== null && outcome === null);
  const services = [...state.services.values()];
  if (!isAlone || !services.every((service) => isQuiet(state, service, plane.nowMs()))) return;
  const startSeq = logSeq(cluster);
  await world.run(
    steadyMs,
    everySecond(world, () => look(targets, calmReportMs)),
  );
  history.steady = { startSeq, endSeq: logSeq(cluster) };
}

function look(targets: Targets, allowedMs: number): boolean {
  const plane = planeOf(targets);
  if (plane !== null) watchEndpoints(targets.cluster, plane.state, allowedMs);
  return false;
}

/** A control plane that knows all of the log; null while there is none. */
function planeOf({ cluster, nodes }: Targets): ControlPlane | null {
  const seq = logSeq(cluster);
  return nodes.find(({ plane }) => plane !== null && plane.seq === seq)?.plane ?? null;
}
