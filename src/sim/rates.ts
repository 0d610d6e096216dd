import type { Random } from './random.ts';

/** How often things go wrong in one seed. Each is zero in about half of all seeds, so that faults also come alone. */
export interface Rates {
  /** Times a virtual minute, for each kind of sudden fault. */
  readonly strikes: Readonly<Record<StrikeKind, number>>;
  /** Chances from 0 to 1, each time such a thing is done. */
  readonly chances: Readonly<Record<ChanceKind, number>>;
}

const mostStrikes = {
  agentKill: 40,
  agentClose: 4,
  clientKill: 8,
  shimKill: 15,
  jobKill: 15,
  reboot: 3,
  wallJump: 4,
  slowDisk: 4,
  fullDisk: 4,
  squatPorts: 4,
  strangers: 60,
} as const;

const mostChances = {
  /** A commit finds the disk of the log full, or failing, before anything is written. */
  commitFails: 0.05,
  /** A commit has happened and nobody is told. */
  replyLost: 0.05,
  /** A change of the log wakes others only at their next look. */
  bellLost: 0.5,
  bellTwice: 0.3,
  lateNotice: 0.5,
  /** A shim dies before its next step. */
  shimDies: 0.05,
  /** A shim, or the command that it forked, gets no time for a while before its next step. */
  stalls: 0.1,
} as const;

export type StrikeKind = keyof typeof mostStrikes;
export type ChanceKind = keyof typeof mostChances;

export const strikeKinds = Object.keys(mostStrikes) as readonly StrikeKind[];
export const chanceKinds = Object.keys(mostChances) as readonly ChanceKind[];

export function drawRates(random: Random): Rates {
  return { strikes: draw(mostStrikes, random), chances: draw(mostChances, random) };
}

export const noRates: Rates = { strikes: scaled(mostStrikes, () => 0), chances: scaled(mostChances, () => 0) };

/** The same kinds of faults, more or less often. */
export function scaleRates({ strikes, chances }: Rates, factor: number): Rates {
  return { strikes: scaled(strikes, (rate) => rate * factor), chances: scaled(chances, (chance) => chance * factor) };
}

function draw<Kind extends string>(most: Readonly<Record<Kind, number>>, random: Random): Record<Kind, number> {
  return scaled(most, (rate) => (random.happens(0.5) ? 0 : rate * random.fraction() ** 1.5));
}

function scaled<Kind extends string>(
  most: Readonly<Record<Kind, number>>,
  scale: (rate: number) => number,
): Record<Kind, number> {
  const pairs = Object.entries<number>(most).map(([kind, rate]) => [kind, scale(rate)]);
  return Object.fromEntries(pairs) as Record<Kind, number>;
}
