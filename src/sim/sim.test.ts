import { describe, expect, it } from 'vitest';
import { corpus } from './corpus.ts';
import { strikeKinds } from './rates.ts';
import { runSeed, type SeedResult } from './run-seed.ts';

/** Runs once no promise is left that could settle. */
const drain = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

/** Seeds of the test run; more run with `npm run sim`. */
const firstSeed = 1;
const seedsPerRun = 60;

async function runSeeds(first: number, count: number): Promise<readonly SeedResult[]> {
  const results: SeedResult[] = [];
  for (let seed = first; seed < first + count; seed += 1) results.push(await runSeed(seed, { drain }));
  return results;
}

/** What went wrong, each with the one command that shows it again. */
function failures(results: readonly SeedResult[]): readonly string[] {
  return results.flatMap(({ seed, violations }) =>
    violations.map((violation) => `${violation}\n  npm run sim -- --seed ${seed}`),
  );
}

describe('the simulator', () => {
  it.each(Array.from({ length: 4 }, (_, part) => firstSeed + part * seedsPerRun))(
    'keeps every promise whatever goes wrong, in the seeds from %i on [I1 I2 I3 I4 I5 I6 I7 I8 I9 I10] [I11 I12 I13 I14 I15 I16 I17 I24 I26 I27 I28] [S7] [X28]',
    async (first) => {
      expect(failures(await runSeeds(first, seedsPerRun))).toEqual([]);
    },
  );

  it.each(corpus)('keeps every promise in seed $seed, which once failed: $found', async ({ seed }) => {
    expect(failures(await runSeeds(seed, 1))).toEqual([]);
  });

  it('comes to the same hash when it runs a seed again', async () => {
    const [first, second] = [await runSeeds(1, 6), await runSeeds(1, 6)];
    expect(second.map(({ hash }) => hash)).toEqual(first.map(({ hash }) => hash));
    expect(new Set(first.map(({ hash }) => hash)).size).toBe(first.length);
  });

  it('lets every kind of sudden fault strike, and brings about nearly every kind of fact', async () => {
    const results = await runSeeds(1, 40);
    const notes = results.flatMap(({ trace }) => trace).join('\n');
    expect(strikeKinds.length).toBeGreaterThan(8);
    for (const words of [
      'is killed',
      'reboots',
      'loses power',
      'full disk',
      'ms off',
      'the shim of',
      'the command of',
    ]) {
      expect(notes).toContain(words);
    }
    const facts = new Set(results.flatMap(({ counts }) => Object.keys(counts)));
    for (const kind of [
      'NodeLost',
      'NodeFault',
      'TimedOut',
      'OperatorStop',
      'SetupFailed',
      'EndpointOpened',
      'TaskPrepared',
    ]) {
      expect(facts).toContain(kind);
    }
  });
});
