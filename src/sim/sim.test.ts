import { describe, expect, it } from 'vitest';
import { corpus } from './corpus.ts';
import { holdAgainst } from './coverage.ts';
import { quickRows } from './quick-rows.ts';
import { strikeKinds } from './rates.ts';
import { runSeed, type SeedResult } from './run-seed.ts';

/** Runs once no promise is left that could settle. */
const drain = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

/** Seeds of the test run, in parts; more run with `npm run sim`. All tests of the simulator take 100 s at most. */
const parts = 6;
const seedsPerPart = 30;
const serviceParts = 2;
const serviceSeedsPerPart = 8;
/** A part takes 6 s on a core of its own; other tests may have the machine. */
const busyMachineMs = 120_000;
const ran = new Map<string, SeedResult>();

/** Each seed runs once, however many tests look at it. */
async function runOnce(first: number, count: number, services = false): Promise<readonly SeedResult[]> {
  const results: SeedResult[] = [];
  for (let seed = first; seed < first + count; seed += 1) {
    const key = `${seed}${commandOf(services)}`;
    const result = ran.get(key) ?? (await runSeed(seed, { drain, services, coverage: true }));
    ran.set(key, result);
    results.push(result);
  }
  return results;
}

/** What went wrong, each with the one command that shows it again. */
function failures(results: readonly SeedResult[], services = false): readonly string[] {
  return results.flatMap(({ seed, violations }) =>
    violations.map((violation) => `${violation}\n  npm run sim -- --seed ${seed}${commandOf(services)}`),
  );
}

function commandOf(services: boolean): string {
  return services ? ' --services' : '';
}

describe('the simulator', () => {
  it.each(Array.from({ length: parts }, (_, part) => 1 + part * seedsPerPart))(
    'keeps every promise whatever goes wrong, in the seeds from %i on [I1 I2 I3 I4 I5 I6 I7 I8 I9 I10] [I11 I12 I13 I14 I15 I16 I17 I24 I26 I27 I28] [S7] [X28]',
    async (first) => {
      expect(failures(await runOnce(first, seedsPerPart))).toEqual([]);
    },
    busyMachineMs,
  );

  it.each(Array.from({ length: serviceParts }, (_, part) => 1 + part * serviceSeedsPerPart))(
    'keeps every promise about services whatever people ask and whatever goes wrong, in the seeds from %i on [I18 I19 I20 I21 I24 I25 I27 I28] [X10 X25 X26 X30] [B3]',
    async (first) => {
      expect(failures(await runOnce(first, serviceSeedsPerPart, true), true)).toEqual([]);
    },
    busyMachineMs,
  );

  it.each(corpus)('keeps every promise in seed $seed, which once failed: $found', async ({ seed, services }) => {
    expect(failures(await runOnce(seed, 1, services), services)).toEqual([]);
  });

  it('comes to the same hash when it runs a seed again [X28]', async () => {
    const first = await runOnce(1, 4);
    for (const { seed, hash } of first) expect((await runSeed(seed, { drain })).hash).toBe(hash);
    expect(new Set(first.map(({ hash }) => hash)).size).toBe(first.length);
    const [withServices] = await runOnce(1, 1, true);
    expect((await runSeed(1, { drain, services: true })).hash).toBe(withServices?.hash);
  });

  it('brings about every row of every table that takes no server, and nothing that is said to be out of reach', async () => {
    const results = [
      ...(await runOnce(1, parts * seedsPerPart)),
      ...(await runOnce(1, serviceParts * serviceSeedsPerPart, true)),
    ];
    for (const { seed, services } of corpus) results.push(...(await runOnce(seed, 1, services)));
    const rows = new Set(results.flatMap((result) => [...result.rows]));
    expect(holdAgainst(rows, quickRows('embedded'))).toEqual({ missing: [], needless: [] });
  });

  it('strikes programs, processes, machines and disks', async () => {
    const results = await runOnce(1, parts * seedsPerPart);
    const notes = results.flatMap(({ trace }) => trace).join('\n');
    expect(strikeKinds.length).toBeGreaterThan(8);
    const struck = ['is killed', 'reboots', 'loses power', 'full disk', 'ms off', 'the shim of', 'the command of'];
    expect(struck.filter((words) => !notes.includes(words))).toEqual([]);
  });
});
