import * as z from 'zod';
import { parseDurationMs, writeDuration } from '../core/units.ts';
import { duration, size, someNumber, text, wholeNumber } from './leaves.ts';
import { profileTable } from './profile-table.ts';

/** The file of `yard simulate`: a cluster, a workload, or both. */

const mostNodes = 100_000;
const mostJobs = 10_000_000;

const momentWords = 'a duration since the start such as "90m", or a time such as "2026-12-01T08:00:00Z"';

/** `"90m"` after the start, or `"2026-12-01T08:00:00Z"`. */
export const moment = z.codec(z.string({ error: momentWords }), z.custom<Moment>(), {
  decode: (written, context) => {
    const parsed = parseMoment(written);
    if (parsed !== null) return parsed;
    context.issues.push({ code: 'custom', input: written, message: momentWords });
    return z.NEVER;
  },
  encode: (value) => (value.kind === 'after' ? writeDuration(value.ms) : new Date(value.ms).toISOString()),
});

/** A time of the simulation: after its start, or on the calendar (Unix milliseconds). */
export type Moment = { readonly kind: 'after'; readonly ms: number } | { readonly kind: 'date'; readonly ms: number };

/** The moment that a text says; null when it says none. */
export function parseMoment(written: string): Moment | null {
  const afterMs = parseDurationMs(written);
  if (afterMs !== null) return { kind: 'after', ms: afterMs };
  if (!/^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$/.test(written)) return null;
  const dateMs = Date.parse(inUtc(written));
  return Number.isFinite(dateMs) ? { kind: 'date', ms: dateMs } : null;
}

/** A time without a zone is in UTC, on every machine: the same file gives the same answer. */
function inUtc(written: string): string {
  const text = written.replace(' ', 'T');
  return /(Z|[+-]\d\d:\d\d)$/.test(text) || !text.includes('T') ? text : `${text}Z`;
}

const spreadWords = 'a duration such as "2h", or { min = "5m", mean = "1h", max = "12h" }';

const spread = z.union([duration, z.strictObject({ min: duration.optional(), mean: duration, max: duration })], {
  error: spreadWords,
});

const exitWords = 'the share that fails such as 0.05, or { share = 0.05, code = 75 }';

const exit = z.union(
  [
    someNumber(0, 1),
    z.strictObject({ share: someNumber(0, 1), code: wholeNumber(1, 255).optional() }, { error: exitWords }),
  ],
  { error: exitWords },
);

/** One `[[nodes]]`: machines of one kind. */
export const nodesTable = z.strictObject(
  {
    name: text.optional(),
    count: wholeNumber(1, mostNodes).optional(),
    gpus: wholeNumber(0, 64).optional(),
    gpuType: text.optional(),
    gpuMemory: size.optional(),
    cpus: someNumber(0, 4096),
    memory: size,
    labels: z.record(z.string(), text, { error: 'a table of texts' }).optional(),
    from: moment.optional(),
    until: moment.optional(),
    failures: z
      .strictObject({ every: duration, repair: duration.optional() }, { error: 'a table such as { every = "30d" }' })
      .optional(),
  },
  { error: 'a table with cpus and memory' },
);

/** One `[[jobs]]`: work of one kind, and when it comes. */
export const jobsTable = z.strictObject(
  {
    name: text,
    at: moment.optional(),
    every: spread.optional(),
    count: wholeNumber(1, mostJobs).optional(),
    runs: spread.optional(),
    exit: exit.optional(),
    profile: profileTable.optional(),
  },
  { error: 'a table with a name' },
);

/** Which column of a trace says what. */
export const columnsTable = z.strictObject(
  {
    at: text.optional(),
    runs: text.optional(),
    name: text.optional(),
    gpus: text.optional(),
    gpuType: text.optional(),
    cpus: text.optional(),
    memory: text.optional(),
    nodes: text.optional(),
    priority: text.optional(),
    exit: text.optional(),
  },
  { error: 'a table such as { at = "submitted", runs = "seconds" }' },
);

/** What stands at the top of the file. */
export const simulationTable = z.strictObject({
  start: text.optional(),
  until: moment.optional(),
  seed: wholeNumber(0, 2 ** 32 - 1).optional(),
  workload: text.optional(),
  columns: z.unknown().optional(),
  nodes: z.unknown().optional(),
  jobs: z.unknown().optional(),
});

export type NodesTable = z.output<typeof nodesTable>;
export type JobsTable = z.output<typeof jobsTable>;

export const simulationKeys: readonly string[] = Object.keys(simulationTable.shape);
export const nodesKeys: readonly string[] = Object.keys(nodesTable.shape);
export const jobsKeys: readonly string[] = Object.keys(jobsTable.shape);
export const columnsKeys: readonly string[] = Object.keys(columnsTable.shape);
