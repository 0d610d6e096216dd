import type { Random } from '../random.ts';

/** How often things go wrong between a server and its nodes in one seed. Each is zero in about half of all seeds. */
export interface ServedRates {
  /** Times a virtual minute, for each kind of sudden fault. */
  readonly strikes: Readonly<Record<ServedStrikeKind, number>>;
  /** Chances from 0 to 1, for each frame and each request. */
  readonly chances: Readonly<Record<WireChanceKind, number>>;
}

const mostStrikes = {
  serverKill: 1,
  serverClose: 0.5,
  /** One machine is cut off for a while, in one direction or in both. */
  cut: 5,
  /** A random half of all ways is clogged, and later unclogged. */
  swizzle: 1,
  /** Many machines are cut off together, and come back together. */
  massCut: 1,
  /** Something between an agent and the server forgets their connection, and tells neither. */
  blackhole: 1,
  /** The server has no room for logs. */
  logsFull: 0.5,
  /** A machine is suspended. */
  sleep: 1,
  /** Another machine starts with a copy of a node's disk. */
  clone: 0.3,
} as const;

/** Of staged seeds only: moments that chance alone hardly ever brings about. */
const stagedStrikes = {
  /** An agent is killed and cut off, and the next joins at the very moment when the lease ends. */
  lateReturn: 2,
  /** A machine that works is cut off until it is lost, and comes back with a slow disk. */
  lostAtWork: 0.7,
  /** Two machines are cut off, and a third just when the first of them would be lost. */
  thirdSilent: 0.5,
} as const;

const mostChances = {
  /** The connection breaks before the frame arrives. */
  breakBefore: 0.02,
  /** It arrives, and the connection breaks before anything can come back. */
  breakAfter: 0.02,
  /** It takes seconds. */
  lag: 0.1,
  /** It takes longer than a lease. */
  stall: 0.003,
} as const;

export type ServedStrikeKind = keyof typeof mostStrikes | keyof typeof stagedStrikes;
export type WireChanceKind = keyof typeof mostChances;

export const servedStrikeKinds = Object.keys({ ...mostStrikes, ...stagedStrikes }) as readonly ServedStrikeKind[];
export const wireChanceKinds = Object.keys(mostChances) as readonly WireChanceKind[];

export function drawServedRates(random: Random): ServedRates {
  const draw = <Kind extends string>(most: Readonly<Record<Kind, number>>): Record<Kind, number> => {
    const rate = (limit: number): number => (random.happens(0.5) ? 0 : limit * random.fraction());
    const pairs = Object.entries<number>(most).map(([kind, limit]) => [kind, rate(limit)]);
    return Object.fromEntries(pairs) as Record<Kind, number>;
  };
  return { strikes: { ...noServedRates.strikes, ...draw(mostStrikes) }, chances: draw(mostChances) };
}

/** Nothing else is sudden, so that the server goes on for long and leases are as short as they can be. */
export function stageRates(random: Random, { chances }: ServedRates): ServedRates {
  const lateReturn = stagedStrikes.lateReturn * random.between(0.3, 1);
  const lostAtWork = stagedStrikes.lostAtWork * random.between(0.3, 1);
  const thirdSilent = stagedStrikes.thirdSilent * random.between(0.3, 1);
  return { strikes: { ...noServedRates.strikes, lateReturn, lostAtWork, thirdSilent }, chances };
}

export const noServedRates: ServedRates = {
  strikes: {
    ...{ serverKill: 0, serverClose: 0, cut: 0, swizzle: 0, massCut: 0, blackhole: 0, logsFull: 0, sleep: 0, clone: 0 },
    ...{ lateReturn: 0, lostAtWork: 0, thirdSilent: 0 },
  },
  chances: { breakBefore: 0, breakAfter: 0, lag: 0, stall: 0 },
};
