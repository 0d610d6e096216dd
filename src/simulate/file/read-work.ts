import { checkName, checkSettings } from '../../core/job/check-spec.ts';
import { mergeSettings, type SettingsLayer } from '../../core/profile/settings.ts';
import { DocumentError, documentError, type KeyPath, keyPathOf } from '../../wire/document-error.ts';
import { toSettings } from '../../wire/profile-table.ts';
import { readTable } from '../../wire/read-table.ts';
import { type JobsTable, jobsTable, type Moment } from '../../wire/simulation-table.ts';
import type { Exit, Spread, Work } from '../plan.ts';
import { readAt } from './file-error.ts';
import { entriesOf } from './read-nodes.ts';

/** One `[[jobs]]` as it is written, and what of it needs no start to be known. */
export interface WrittenWork {
  readonly table: JobsTable;
  readonly layers: readonly SettingsLayer[];
  readonly kind: Work['kind'];
  readonly position: number;
}

/** Each `[[jobs]]`, checked as a submission would be. Throws a DocumentError. */
export function readWork(written: unknown, fileName: string): readonly WrittenWork[] {
  return entriesOf(written, 'jobs').map((entry, position) =>
    readAt(['jobs', position], () => readOne(entry, fileName, position)),
  );
}

function readOne(entry: unknown, fileName: string, position: number): WrittenWork {
  const table = readTable(jobsTable, entry, 'jobs');
  const wrongName = checkName(table.name, 'jobs.name');
  if (wrongName !== null) throw new DocumentError(wrongName, keyPathOf(wrongName));
  const values = table.profile === undefined ? {} : toSettings(table.profile);
  const kind = values.replicas === undefined ? 'job' : 'service';
  const layers: SettingsLayer[] = [{ origin: fileName, values: kind === 'service' ? { ...values, kind } : values }];
  const { settings } = mergeSettings(layers);
  const wrong = checkSettings(settings);
  if (wrong !== null) throw new DocumentError(wrong, ['jobs', ...keyPathOf(wrong)]);
  if (kind === 'service' && (table.every !== undefined || (table.count ?? 1) > 1)) {
    const key = table.every === undefined ? 'count' : 'every';
    const hint = 'remove it: replicas = N says how many there are';
    throw documentError('BAD_VALUE', 'a service comes once, and stays', ['jobs', key], hint);
  }
  if (table.runs === undefined && settings.kind === 'job') {
    const hint = 'add runs = "2h" or runs = { min = "5m", mean = "1h", max = "12h" }';
    throw documentError('MISSING_KEY', `${table.name} has no "runs": how long does it take?`, ['jobs', 'runs'], hint);
  }
  return { table, layers, kind, position };
}

/** The work, its times after the start. `isBounded`: the file says until when. Throws a DocumentError. */
export function toWork(
  { table, layers, kind, position }: WrittenWork,
  after: (moment: Moment, path: KeyPath) => number,
  isBounded: boolean,
): Work {
  const at = (key: string): KeyPath => ['jobs', position, key];
  const every = table.every === undefined ? null : toSpread(table.every, at('every'));
  const count = table.count ?? (every === null ? 1 : null);
  if (every !== null && every.maxMs === 0) {
    throw documentError('RANGE', 'every is 0: all of it at once is count alone', at('every'), 'remove every');
  }
  if (count === null && !isBounded) {
    const hint = 'add count = N here, or until = "7d" at the top of the file';
    throw documentError('MISSING_KEY', `${table.name} comes again and again for ever`, at('every'), hint);
  }
  return {
    name: table.name,
    kind,
    layers,
    atMs: table.at === undefined ? 0 : after(table.at, at('at')),
    every,
    count,
    runs: table.runs === undefined ? null : toSpread(table.runs, at('runs')),
    exit: toExit(table.exit),
  };
}

function toSpread(written: NonNullable<JobsTable['runs']>, path: KeyPath): Spread {
  if (typeof written === 'number') return { minMs: written, meanMs: written, maxMs: written };
  const { min = 0, mean, max } = written;
  if (min <= mean && mean <= max) return { minMs: min, meanMs: mean, maxMs: max };
  throw documentError('RANGE', `${path.join('.')} has its mean outside of min and max`, path, 'min ≤ mean ≤ max');
}

function toExit(written: JobsTable['exit']): Exit {
  if (written === undefined) return { share: 0, code: 1 };
  return typeof written === 'number' ? { share: written, code: 1 } : { share: written.share, code: written.code ?? 1 };
}
