import type { SeedResult } from './run-seed.ts';
import { nothingTrimmed, type Trim } from './trim.ts';

/** A seed that fails with as little as could be left of it. */
export interface Shrunk {
  /** Id of the promise that it breaks, before and after. */
  readonly id: string;
  readonly trim: Trim;
  readonly result: SeedResult;
  readonly runs: number;
}

const mostRuns = 80;

/**
 * Leaves out whatever a failing seed does not need to break the same promise: kinds of faults first, then the last of
 * its strikes, submissions and time. What is left out changes what is drawn after it, so a part may come back with
 * another; it is tried, and kept where the promise is still broken. Null when the seed does not fail.
 */
export async function shrink(run: (trim: Trim) => Promise<SeedResult>): Promise<Shrunk | null> {
  const first = await run(nothingTrimmed);
  const [violation] = first.violations;
  if (violation === undefined) return null;
  const id = idOf(violation);
  let best: Shrunk = { id, trim: nothingTrimmed, result: first, runs: 1 };
  const holds = async (trim: Trim): Promise<boolean> => {
    if (best.runs >= mostRuns) return false;
    const result = await run(trim);
    const fails = result.violations.some((one) => idOf(one) === id);
    best = fails ? { id, trim, result, runs: best.runs + 1 } : { ...best, runs: best.runs + 1 };
    return fails;
  };
  for (const kind of first.faults) await holds({ ...best.trim, without: [...best.trim.without, kind] });
  await lower((strikes) => holds({ ...best.trim, strikes }), best.result.strikes);
  await lower((intents) => holds({ ...best.trim, intents }), best.result.intents);
  await lower((forMs) => holds({ ...best.trim, forMs }), Math.ceil(best.result.forMs));
  return best;
}

/** The least of a number with which it still holds, found by halves. */
async function lower(holds: (number: number) => Promise<boolean>, from: number): Promise<void> {
  let [least, most] = [0, from];
  while (most - least > Math.max(0, from / 64)) {
    const middle = Math.floor((least + most) / 2);
    if (await holds(middle)) most = middle;
    else least = middle + 1;
  }
}

function idOf(violation: string): string {
  return violation.split(':', 1)[0] ?? violation;
}
