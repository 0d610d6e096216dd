import { describe, expect, it } from 'vitest';
import { everyRow, holdAgainst } from './coverage.ts';
import { whyNeverSeen } from './exemptions.ts';
import { isServedOnly, rare } from './quick-rows.ts';
import { runSeed, type SeedResult } from './run-seed.ts';
import { runServedSeed } from './served/run-served-seed.ts';

/** Runs once no promise is left that could settle. */
const drain = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

/** The other tests of the simulator hold what their few seeds bring about against the rest of the table. */
const isFull = process.env.RUNYARD_FULL === '1';
/** Seeds of each kind that bring about whatever seeds can. */
const fullSeeds = { embedded: 400, services: 60, served: 120, servedServices: 60 };
const wholeMachineMs = 3_600_000;

describe('coverage', () => {
  it('exempts only rows that there are, each for one reason', () => {
    const all = new Set(everyRow());
    for (const row of rare) {
      expect(all).toContain(row);
      expect(whyNeverSeen(row)).toBeNull();
    }
    const due = [...all].filter((row) => whyNeverSeen(row) === null);
    expect(due.length).toBeGreaterThan(150);
    expect(due.filter((row) => isServedOnly(row)).length).toBeGreaterThan(10);
  });

  it('tells what is missing, and what needs no exemption', () => {
    const [exempt, due] = ['refusal AMBIGUOUS', 'refusal NOT_FOUND'];
    expect(holdAgainst(new Set([exempt]), [due])).toEqual({ missing: [due], needless: [exempt] });
    expect(holdAgainst(new Set([due]), [due])).toEqual({ missing: [], needless: [] });
  });

  it.runIf(isFull)(
    'of many seeds is every row of every table that seeds can bring about',
    async () => {
      const rows = new Set<string>();
      const note = ({ violations, rows: seen, seed }: SeedResult): void => {
        expect(violations, `seed ${seed}`).toEqual([]);
        for (const row of seen) rows.add(row);
      };
      const kinds = [
        { count: fullSeeds.embedded, run: runSeed, services: false },
        { count: fullSeeds.services, run: runSeed, services: true },
        { count: fullSeeds.served, run: runServedSeed, services: false },
        { count: fullSeeds.servedServices, run: runServedSeed, services: true },
      ];
      for (const { count, run, services } of kinds) {
        for (let seed = 1; seed <= count; seed += 1) note(await run(seed, { drain, services, coverage: true }));
      }
      const due = everyRow().filter((row) => whyNeverSeen(row) === null);
      expect(holdAgainst(rows, due)).toEqual({ missing: [], needless: [] });
    },
    wholeMachineMs,
  );
});
