import { checkName } from '../core/job/check-spec.ts';
import type { SettingsLayer } from '../core/profile/settings.ts';
import { DocumentError, documentError, type KeyPath } from './document-error.ts';
import { guardDocument, guardKey } from './document-guard.ts';
import { type Change, changesOf, nameOf, type SubmissionOptions } from './option-changes.ts';
import { readProfile, readSpec } from './parse-document.ts';
import type { Submission } from './submission.ts';

type Draft = Record<string, unknown>;

/**
 * A submission with the options of a command line laid over it: each setting becomes a layer that names its option,
 * each change of what to do changes the spec, and the source shows both. `shellValue` answers `--env K`.
 * Throws a DocumentError that names the option.
 */
export function applyOptions(
  submission: Submission,
  options: SubmissionOptions,
  more: { readonly shellValue?: (key: string) => string | undefined; readonly args?: readonly string[] } = {},
): Submission {
  const changes = changesOf(options, more.shellValue ?? (() => undefined));
  const args = more.args ?? submission.spec.args;
  const source = guardDocument(submission.source, 'the submission') as Draft;
  if (args.length > 0) source.args = [...args];
  const profile = options.profile ?? submission.profile;
  const wrongName = profile === null ? null : checkName(profile, 'profile');
  if (wrongName !== null) throw new DocumentError(wrongName, ['profile']);
  const layers: SettingsLayer[] = [...submission.layers];
  const origins = new Map<string, string>();
  if (options.profile !== undefined && typeof source.profile !== 'object') source.profile = options.profile;
  if (changes.some((change) => change.path[0] === 'profile') && typeof source.profile !== 'object') {
    source.profile = {};
  }
  for (const change of changes) {
    for (const [depth, key] of change.path.entries()) guardKey(String(key), change.path.slice(0, depth));
    const written = guardDocument(change.value, nameOf(change));
    for (const one of spread({ ...change, value: written })) {
      origins.set(one.path.join('.'), nameOf(one));
      place(source, one);
      if (one.path[0] === 'profile') layers.push(layerOf(source, one));
    }
  }
  const spec = readSpec(source.job, args, (path) => originOf(origins, path));
  return { spec, source, profile, layers };
}

/** Groups merge key by key in the core; everything else is replaced as a whole. */
const groups: ReadonlySet<string> = new Set(['resources', 'retry', 'restart', 'rollout']);

/** A group given whole (`--set retry={…}`) merges key by key, as in a layer. */
function spread(change: Change): readonly Change[] {
  const group = change.path.length === 2 && groups.has(String(change.path[1]));
  if (!group || typeof change.value !== 'object' || change.value === null) return [change];
  return Object.entries(change.value).map(([inner, value]) => ({ ...change, path: [...change.path, inner], value }));
}

/** Makes a change in the document; tables on the way to it are made where there are none. */
function place(document: Draft, { path, value, how, origin }: Change): void {
  let table = document;
  for (const key of path.slice(0, -1)) {
    const inner = table[key];
    if (inner !== undefined && (typeof inner !== 'object' || inner === null)) {
      throw documentError('BAD_VALUE', `${origin}: ${path.slice(0, -1).join('.')} is no table`, path);
    }
    const next = (inner ?? Object.create(null)) as Draft;
    table[key] = next;
    table = next;
  }
  const last = String(path[path.length - 1]);
  if (how === 'remove') delete table[last];
  else if (how === 'append') table[last] = [...(Array.isArray(table[last]) ? table[last] : []), value];
  else table[last] = value;
  if (last === 'exclude' && table.workdir === undefined) {
    const hint = 'give it one with --workspace DIR';
    throw documentError('BAD_VALUE', `${origin} without a workspace excludes nothing`, path, hint);
  }
}

/** The layer of one option. What is replaced as a whole (an array, labels) is taken with its other keys. */
function layerOf(document: Draft, change: Change): SettingsLayer {
  const depth = groups.has(String(change.path[1])) ? 3 : 2;
  const path = change.path.slice(1, depth);
  let value: unknown = document.profile;
  for (const key of path) value = (value as Draft)[String(key)];
  const table = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
  const values = readProfile(table, (at) => (startsWith(at, change.path) ? nameOf(change) : null));
  return { origin: change.origin, values };
}

function originOf(origins: ReadonlyMap<string, string>, path: KeyPath): string | null {
  for (let depth = path.length; depth > 0; depth -= 1) {
    const origin = origins.get(path.slice(0, depth).join('.'));
    if (origin !== undefined) return origin;
  }
  return null;
}

function startsWith(path: KeyPath, start: KeyPath): boolean {
  return start.every((key, index) => String(path[index]) === String(key));
}
