import type { Rates } from './rates.ts';
import type { ServedRates } from './served/rates.ts';

/** What is left out of a seed, to see whether it still fails without. */
export interface Trim {
  /** Kinds of faults that do not happen. */
  readonly without: readonly string[];
  /** No more sudden faults than so many. */
  readonly strikes: number | null;
  /** No more submissions than so many. */
  readonly intents: number | null;
  /** Everything goes wrong for so long at most, in virtual milliseconds. */
  readonly forMs: number | null;
}

export const nothingTrimmed: Trim = { without: [], strikes: null, intents: null, forMs: null };

/** Rates of the kinds that are left. */
export function trimRates<Given extends Rates | ServedRates>({ strikes, chances }: Given, { without }: Trim): Given {
  const left = (rates: Readonly<Record<string, number>>): Record<string, number> =>
    Object.fromEntries(Object.entries(rates).map(([kind, rate]) => [kind, without.includes(kind) ? 0 : rate]));
  return { strikes: left(strikes), chances: left(chances) } as Given;
}

/** As words of the simulator's command line. */
export function trimWords({ without, strikes, intents, forMs }: Trim): string {
  const words = [
    ...(without.length === 0 ? [] : [`--without ${without.join(',')}`]),
    ...(strikes === null ? [] : [`--strikes ${strikes}`]),
    ...(intents === null ? [] : [`--intents ${intents}`]),
    ...(forMs === null ? [] : [`--for ${forMs}`]),
  ];
  return words.map((word) => ` ${word}`).join('');
}
