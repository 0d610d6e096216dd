import { checkName, checkSettings } from '../core/job/check-spec.ts';
import { checkTogether } from '../core/job/check-together.ts';
import type { JobSpec } from '../core/job/spec.ts';
import { mergeSettings, type SettingsLayer } from '../core/profile/settings.ts';
import type { Refusal } from '../core/refusal.ts';
import { DocumentError, documentError, keyPathOf } from './document-error.ts';
import { serviceTable, toSpec } from './job-table.ts';
import { openDocument, type ParseOptions, readCheckedSpec, readProfile } from './parse-document.ts';
import { readTable } from './read-table.ts';
import type { Submission } from './submission.ts';

/**
 * Reads a service file as a document: `{ service: { name, run, … }, profile?: 'name' | { … } }`. The layers say
 * `kind: 'service'`, so that the service's own defaults apply. Throws a DocumentError that names the key.
 */
export function parseServiceDocument(document: unknown, options: ParseOptions): Submission {
  const tables = openDocument(document, options.origin, ['service', 'profile']);
  const { service, profile } = tables;
  if (service === undefined) {
    const hint = 'it starts like this:\n  [service]\n  name = "llm"\n  run = "python3 serve.py --port $PORT"';
    throw documentError('MISSING_KEY', `${options.origin} has no [service]`, [], hint);
  }
  const spec = readServiceSpec(service);
  const { origin } = options;
  if (typeof profile === 'string') {
    const wrong = checkName(profile, 'profile');
    if (wrong !== null) throw new DocumentError(wrong, ['profile']);
    return { spec, source: tables, profile, layers: [{ origin, values: { kind: 'service' } }] };
  }
  const values = profile === undefined ? {} : readProfile(profile);
  if (values.kind === 'job') {
    const message = 'kind in [profile] is "job"; the profile of a service has "service"';
    throw documentError('BAD_VALUE', message, ['profile', 'kind'], 'remove it: a service is a service');
  }
  const layers: SettingsLayer[] = [{ origin, values: { ...values, kind: 'service' } }];
  const { settings } = mergeSettings(layers);
  const wrong = checkSettings(settings) ?? checkTogether(spec, settings);
  if (wrong !== null) throw refusedService(wrong);
  return { spec, source: tables, profile: null, layers };
}

function readServiceSpec(service: unknown): JobSpec {
  const table = readTable(serviceTable, service, 'service');
  return readCheckedSpec(toSpec(table, []), refusedService);
}

/** The core speaks of `job.run`; here it stands in `[service]`. */
export function refusedService(refusal: Refusal): DocumentError {
  const rename = (text: string): string => text.replace(/\bjob\.(?=name|run|setup|env|workspace)/g, 'service.');
  const keyPath = keyPathOf(refusal);
  const named = keyPath[0] === 'job' ? ['service', ...keyPath.slice(1)] : keyPath;
  const path = refusal.path === null ? null : rename(refusal.path);
  return new DocumentError({ ...refusal, message: rename(refusal.message), path }, named);
}
