import { runSeed, type SeedResult } from './run-seed.ts';
import { runServedSeed } from './served/run-served-seed.ts';
import type { Drain } from './world.ts';

/** What the simulator's command line needs of the program that runs it. */
export interface SimIo {
  readonly drain: Drain;
  readonly print: (line: string) => void;
  /** Real milliseconds since some moment, for the figures. */
  readonly elapsedMs: () => number;
}

const usage =
  'usage: npm run sim -- [--seed N | --seeds N | --minutes M] [--from N] [--served] [--services] [--trace] [--log]';

/**
 * `--seed N` runs one seed twice, compares, and prints its trace when it fails or with `--trace`; \`--log\` adds the facts.
 * With `--services` people also meddle with services, which makes every seed another one.
 * `--seeds N` (1000 unless told otherwise) and `--minutes M` run many, from `--from N` on. Returns the exit code.
 */
export async function runSimulator(words: readonly string[], io: SimIo): Promise<number> {
  const options = readOptions(words);
  if (options === null) {
    io.print(usage);
    return 2;
  }
  return options.seed === null ? runMany(options, io) : runOne(options.seed, options, io);
}

interface Options {
  readonly seed: number | null;
  readonly seeds: number;
  readonly minutes: number | null;
  readonly from: number;
  readonly served: boolean;
  readonly services: boolean;
  readonly trace: boolean;
  readonly log: boolean;
}

function readOptions(words: readonly string[]): Options | null {
  const given = new Map<string, number>();
  for (let i = 0; i < words.length; i += 1) {
    const name = words[i] ?? '';
    if (['--trace', '--served', '--services', '--log'].includes(name)) {
      given.set(name, 1);
      continue;
    }
    const value = Number(words[i + 1]);
    if (!['--seed', '--seeds', '--minutes', '--from'].includes(name) || !(value >= 0)) return null;
    given.set(name, value);
    i += 1;
  }
  const minutes = given.get('--minutes') ?? null;
  return {
    seed: given.get('--seed') ?? null,
    seeds: given.get('--seeds') ?? (minutes === null ? 1000 : Infinity),
    minutes,
    from: given.get('--from') ?? 1,
    served: given.has('--served'),
    services: given.has('--services'),
    log: given.has('--log'),
    trace: given.has('--trace'),
  };
}

async function runOne(seed: number, options: Options, io: SimIo): Promise<number> {
  const { trace, log } = options;
  const first = await runWith(seed, options, io);
  const second = await runWith(seed, options, io);
  if (trace || first.violations.length > 0) for (const line of first.trace) io.print(line);
  if (log) for (const line of first.log) io.print(line);
  report(first, options, io);
  io.print(
    `seed ${seed}: hash ${first.hash}, ${first.events} events in ${(first.virtualMs / 60_000).toFixed(1)} virtual minutes`,
  );
  if (first.hash !== second.hash) io.print(`seed ${seed}: the second run came to hash ${second.hash}`);
  return first.violations.length === 0 && first.hash === second.hash ? 0 : 1;
}

async function runMany(options: Options, io: SimIo): Promise<number> {
  const { seeds, minutes, from } = options;
  const startedMs = io.elapsedMs();
  const passed = (): number => io.elapsedMs() - startedMs;
  const totals = { seeds: 0, failed: 0, events: 0, virtualMs: 0 };
  while (totals.seeds < seeds && (minutes === null || passed() < minutes * 60_000)) {
    const result = await runWith(from + totals.seeds, options, io);
    totals.seeds += 1;
    totals.events += result.events;
    totals.virtualMs += result.virtualMs;
    if (result.violations.length > 0) totals.failed += 1;
    report(result, options, io);
    if (totals.seeds % progressEvery === 0 && totals.seeds < seeds) {
      io.print(`${totals.seeds} seeds, up to ${from + totals.seeds - 1}, ${totals.failed} failed`);
    }
  }
  const seconds = passed() / 1000;
  io.print(
    `${totals.seeds} seeds, ${totals.failed} failed: ${(totals.seeds / seconds).toFixed(1)} seeds/s, ` +
      `${(totals.virtualMs / 60_000 / totals.seeds).toFixed(1)} virtual minutes and ` +
      `${Math.round(totals.events / totals.seeds)} events each`,
  );
  return totals.failed === 0 ? 0 : 1;
}

function runWith(seed: number, { served, services }: Options, { drain }: SimIo): Promise<SeedResult> {
  return served ? runServedSeed(seed, { drain, services }) : runSeed(seed, { drain, services });
}

const progressEvery = 100;

/** What a failing seed broke, and the one command that shows it again. */
function report({ seed, violations }: SeedResult, { served, services }: Options, io: SimIo): void {
  if (violations.length === 0) return;
  for (const violation of violations) io.print(`seed ${seed}: ${violation}`);
  io.print(`seed ${seed}: npm run sim --${served ? ' --served' : ''}${services ? ' --services' : ''} --seed ${seed}`);
}
