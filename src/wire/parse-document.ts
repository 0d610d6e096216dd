import { checkName, checkSettings, checkSpec } from '../core/job/check-spec.ts';
import { checkTogether } from '../core/job/check-together.ts';
import type { JobSpec } from '../core/job/spec.ts';
import { mergeSettings, type PartialSettings, type SettingsLayer } from '../core/profile/settings.ts';
import type { Refusal } from '../core/refusal.ts';
import { DocumentError, documentError, type KeyPath, keyPathOf } from './document-error.ts';
import { guardDocument } from './document-guard.ts';
import { jobTable, toSpec } from './job-table.ts';
import { unknownKey } from './key-advice.ts';
import { namedProfileTable, profileTable, toSettings } from './profile-table.ts';
import { readTable } from './read-table.ts';
import type { Submission } from './submission.ts';

/** A table of a document, after the guard. */
export type Table = Readonly<Record<string, unknown>>;

export interface ParseOptions {
  /** Where its values stand, for people: `job.toml`, `sdk`. */
  readonly origin: string;
}

/**
 * Reads a job file as a document: `{ job: { name, run, … }, profile?: 'name' | { … }, args?: […] }`. `args` is what
 * followed `--` when such a document is submitted again. Throws a DocumentError that names the key.
 */
export function parseJobDocument(document: unknown, options: ParseOptions): Submission {
  const tables = openDocument(document, options.origin, ['job', 'profile', 'args']);
  const { job, profile } = tables;
  if (job === undefined) {
    const hint = 'it starts like this:\n  [job]\n  name = "digits"\n  run = "python3 train.py"';
    throw documentError('MISSING_KEY', `${options.origin} has no [job]`, [], hint);
  }
  const spec = readSpec(job, readArgs(tables.args));
  if (profile === undefined) return { spec, source: tables, profile: null, layers: [] };
  if (typeof profile === 'string') {
    const wrong = checkName(profile, 'profile');
    if (wrong !== null) throw new DocumentError(wrong, ['profile']);
    return { spec, source: tables, profile, layers: [] };
  }
  const layer = { origin: options.origin, values: readProfile(profile) } satisfies SettingsLayer;
  const { settings } = mergeSettings([layer]);
  const refusal = checkSettings(settings) ?? checkTogether(spec, settings);
  if (refusal !== null) throw new DocumentError(refusal, keyPathOf(refusal));
  return { spec, source: tables, profile: null, layers: [layer] };
}

/** A profile in a file of its own. */
export interface NamedProfile {
  readonly name: string;
  readonly values: PartialSettings;
  readonly source: unknown;
}

/** Reads a profile file as a document: `{ profile: { name, … } }`. Throws a DocumentError that names the key. */
export function parseProfileDocument(document: unknown, options: ParseOptions): NamedProfile {
  const tables = openDocument(document, options.origin, ['profile']);
  const { profile } = tables;
  if (profile === undefined) {
    const hint = 'it starts like this:\n  [profile]\n  name = "big"';
    throw documentError('MISSING_KEY', `${options.origin} has no [profile]`, [], hint);
  }
  const { name, ...table } = readTable(namedProfileTable, profile, 'profile');
  const wrong = checkName(name, 'profile.name');
  if (wrong !== null) throw new DocumentError(wrong, keyPathOf(wrong));
  return { name, values: toSettings(table), source: tables };
}

/** The spec of a `[job]` table, checked as far as it can be without a node. */
export function readSpec(job: unknown, args: readonly string[], subjectOf?: (path: KeyPath) => string | null): JobSpec {
  return readCheckedSpec(toSpec(readTable(jobTable, job, 'job', subjectOf), args));
}

/** The spec itself, unless the core refuses it. */
export function readCheckedSpec(
  spec: JobSpec,
  errorOf = (refusal: Refusal): DocumentError => new DocumentError(refusal, keyPathOf(refusal)),
): JobSpec {
  const refusal = checkSpec(spec);
  if (refusal !== null) throw errorOf(refusal);
  return spec;
}

/** The settings that a `[profile]` table gives. */
export function readProfile(profile: unknown, subjectOf?: (path: KeyPath) => string | null): PartialSettings {
  return toSettings(readTable(profileTable, profile, 'profile', subjectOf));
}

/** The tables of a document: only known ones, and none that hides another. */
export function openDocument(document: unknown, origin: string, known: readonly string[]): Table {
  const guarded = guardDocument(document, origin);
  if (typeof guarded !== 'object' || guarded === null || Array.isArray(guarded)) {
    throw documentError(
      'BAD_REQUEST',
      `${origin} is no table of keys`,
      [],
      'it starts with [job], [service] or [profile]',
    );
  }
  const tables = guarded as Table;
  for (const [key, value] of Object.entries(tables)) {
    if (known.includes(key)) continue;
    if (key === 'job') {
      const other = known.includes('service') ? 'service' : 'profile';
      throw documentError('UNKNOWN_KEY', `[job] is no part of a ${other}`, [key], 'yard submit takes jobs');
    }
    throw unknownKey([key], value);
  }
  return tables;
}

function readArgs(args: unknown): readonly string[] {
  if (args === undefined) return [];
  if (Array.isArray(args) && args.every((one) => typeof one === 'string')) return args;
  throw documentError('BAD_VALUE', 'args is no list of texts', ['args']);
}
