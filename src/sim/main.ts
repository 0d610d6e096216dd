import { everyRow } from './coverage.ts';
import { whyNeverSeen } from './exemptions.ts';
import { readOptions, type SimOptions, usage } from './options.ts';
import { runSeed, type SeedResult } from './run-seed.ts';
import { runServedSeed } from './served/run-served-seed.ts';
import { shrink } from './shrink.ts';
import { type Trim, trimWords } from './trim.ts';
import type { Drain } from './world.ts';

/** What the simulator's command line needs of the program that runs it. */
export interface SimIo {
  readonly drain: Drain;
  readonly print: (line: string) => void;
  /** Real milliseconds since some moment, for the figures. */
  readonly elapsedMs: () => number;
  /** What is simulated, as the repository names it. */
  readonly commit: string;
}

/**
 * `--seed N` runs one seed twice, compares, and prints its trace when it fails or with `--trace`; `--log` adds the facts.
 * `--shrink N` leaves out of a failing seed what it does not need. `--seeds N` (1000 unless told otherwise) and
 * `--minutes M` run many, from `--from N` on; `--coverage` then says what they brought about. With `--services` people
 * also meddle with services, and with `--served` nodes reach a server over a network: each makes every seed another one.
 * Returns the exit code.
 */
export async function runSimulator(words: readonly string[], io: SimIo): Promise<number> {
  const options = readOptions(words);
  if (options === null) {
    io.print(usage);
    return 2;
  }
  if (options.shrink !== null) return runShrinking(options.shrink, options, io);
  return options.seed === null ? runMany(options, io) : runOne(options.seed, options, io);
}

async function runOne(seed: number, options: SimOptions, io: SimIo): Promise<number> {
  const first = await runWith(seed, options, io);
  const second = await runWith(seed, options, io);
  if (options.trace || first.violations.length > 0) for (const line of first.trace) io.print(line);
  if (options.log) for (const line of first.log) io.print(line);
  report(first, options, io);
  io.print(
    `seed ${seed}: hash ${first.hash}, ${first.events} events in ${(first.virtualMs / 60_000).toFixed(1)} virtual minutes`,
  );
  if (first.hash !== second.hash) io.print(`seed ${seed}: the second run came to hash ${second.hash}`);
  return first.violations.length === 0 && first.hash === second.hash ? 0 : 1;
}

async function runMany(options: SimOptions, io: SimIo): Promise<number> {
  const { seeds, minutes, from } = options;
  const startedMs = io.elapsedMs();
  const passed = (): number => io.elapsedMs() - startedMs;
  const totals = { seeds: 0, failed: 0, events: 0, virtualMs: 0 };
  const rows = new Map<string, number>();
  while (totals.seeds < seeds && (minutes === null || passed() < minutes * 60_000)) {
    const result = await runWith(from + totals.seeds, options, io);
    totals.seeds += 1;
    totals.events += result.events;
    totals.virtualMs += result.virtualMs;
    if (result.violations.length > 0) totals.failed += 1;
    for (const row of result.rows) rows.set(row, (rows.get(row) ?? 0) + 1);
    report(result, options, io);
    if (totals.seeds % progressEvery === 0 && totals.seeds < seeds) {
      io.print(`${totals.seeds} seeds, up to ${from + totals.seeds - 1}, ${totals.failed} failed`);
    }
  }
  if (options.coverage) printCoverage(rows, io);
  const seconds = passed() / 1000;
  io.print(
    `${totals.seeds} seeds, ${totals.failed} failed: ${(totals.seeds / seconds).toFixed(1)} seeds/s, ` +
      `${(totals.virtualMs / 60_000 / totals.seeds).toFixed(1)} virtual minutes and ` +
      `${Math.round(totals.events / totals.seeds)} events each`,
  );
  return totals.failed === 0 ? 0 : 1;
}

const progressEvery = 100;

/** In how many seeds each row was seen; then those that were not, with why where that is known. */
function printCoverage(seen: ReadonlyMap<string, number>, io: SimIo): void {
  const all = everyRow();
  for (const row of all) if (seen.has(row)) io.print(`${String(seen.get(row)).padStart(6)}  ${row}`);
  for (const row of all) if (!seen.has(row)) io.print(` never  ${row}${because(row)}`);
}

function because(row: string): string {
  const why = whyNeverSeen(row);
  return why === null ? '' : ` (${why})`;
}

async function runShrinking(seed: number, options: SimOptions, io: SimIo): Promise<number> {
  const shrunk = await shrink((trim) => runWith(seed, { ...options, trim }, io));
  if (shrunk === null) {
    io.print(`seed ${seed} does not fail`);
    return 0;
  }
  const { id, trim, result, runs } = shrunk;
  for (const line of result.schedule) io.print(line);
  report(result, { ...options, trim }, io);
  const minutes = (result.forMs / 60_000).toFixed(1);
  io.print(
    `seed ${seed} breaks ${id} with ${result.strikes} sudden faults, ${result.intents} submissions and ` +
      `${minutes} virtual minutes of it; found in ${runs} runs`,
  );
  return 1;
}

function runWith(
  seed: number,
  { served, services, trim, coverage }: SimOptions,
  { drain }: SimIo,
): Promise<SeedResult> {
  const options = { drain, services, trim, coverage };
  return served ? runServedSeed(seed, options) : runSeed(seed, options);
}

/** What a failing seed broke, of what, and the one command that shows it again. */
function report({ seed, violations }: SeedResult, options: SimOptions, io: SimIo): void {
  if (violations.length === 0) return;
  for (const violation of violations) io.print(`seed ${seed}: ${violation}`);
  io.print(`seed ${seed} of ${io.commit}: npm run sim --${wordsOf(options)}${trimWords(options.trim)} --seed ${seed}`);
}

function wordsOf({ served, services }: SimOptions & { readonly trim: Trim }): string {
  return `${served ? ' --served' : ''}${services ? ' --services' : ''}`;
}
