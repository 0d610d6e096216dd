import { type DocumentError, documentError, type KeyPath } from './document-error.ts';
import { jobKeys, serviceTableKeys, workspaceKeys } from './job-table.ts';
import { nearestWord } from './nearest-word.ts';
import { arrayKeys, profileKeys, resourceKeys, retryKeys } from './profile-table.ts';
import { columnsKeys, jobsKeys, nodesKeys } from './simulation-table.ts';
import { supervisionKeys, supervisionShape } from './supervision-table.ts';
import { showValue } from './write-value.ts';

const reserved: ReadonlySet<string> = new Set(['image', 'mounts']);
const privileges: ReadonlySet<string> = new Set(
  'uid gid user group setuid setgid runAs privileged root sudo capabilities'.split(' '),
);
/** Keys of a profile that only services have. */
export const serviceKeys: ReadonlySet<string> = new Set(Object.keys(supervisionShape));

const profilePlaces: Readonly<Record<string, readonly string[]>> = {
  profile: profileKeys,
  'profile.resources': resourceKeys,
  'profile.retry': retryKeys,
  'profile.array': arrayKeys,
  ...Object.fromEntries(Object.entries(supervisionKeys).map(([key, keys]) => [`profile.${key}`, keys])),
};

/** Which keys there are at a place. */
const keysAt: Readonly<Record<string, readonly string[]>> = {
  '': ['job', 'service', 'profile'],
  job: jobKeys,
  'job.workspace': workspaceKeys,
  service: serviceTableKeys,
  'service.workspace': workspaceKeys,
  ...profilePlaces,
  nodes: nodesKeys,
  jobs: jobsKeys,
  columns: columnsKeys,
  ...Object.fromEntries(Object.entries(profilePlaces).map(([place, keys]) => [`jobs.${place}`, keys])),
};

/** What to say about a key that does not exist where it stands: why not, and what to write instead. */
export function unknownKey(path: KeyPath, value: unknown): DocumentError {
  const key = String(path[path.length - 1]);
  const place = path.slice(0, -1).join('.');
  if (reserved.has(key)) {
    return documentError('RESERVED', `"${key}" is a reserved word and does nothing yet`, path, reservedHint(key));
  }
  if (privileges.has(key)) {
    const message = `"${key}" is refused: a job runs as the user of the agent, with no more rights`;
    return documentError('PRIVILEGE', message, path, 'remove it, or run the agent as that user');
  }
  if (place === '' && key === 'service') {
    const hint = 'yard apply takes services; for a job write [job]';
    return documentError('UNKNOWN_KEY', '[service] is no part of a job', path, hint);
  }
  if (place === '' && key === 'cluster') {
    const hint = 'this version runs on this machine; remove it';
    return documentError('RESERVED', '[cluster] is a reserved word and does nothing yet', path, hint);
  }
  const message = `unknown key "${key}" ${place === '' ? 'at the top of the file' : `in ${placeName(place)}`}`;
  return documentError('UNKNOWN_KEY', message, path, hintFor(place, key, value));
}

/** `[job]`, or `resources in [profile]`. */
export function placeName(place: string): string {
  const [table, ...rest] = place.split('.');
  return rest.length === 0 ? `[${table}]` : `${rest.join('.')} of [${table}]`;
}

function reservedHint(key: string): string {
  return key === 'image'
    ? 'remove it, and install what the job needs in setup'
    : 'remove it, and read paths of the node by their absolute names';
}

function hintFor(place: string, key: string, value: unknown): string {
  const written = `${key} = ${showValue(value)}`;
  const isWhat = place === 'job' || place === 'service';
  if (isWhat && key === 'profile') return `a profile by name stands above [${place}]:\n  ${written}\n  [${place}]`;
  if (place === 'service' && key === 'outputs') return 'remove it: a service does not end, so nothing is collected';
  if ((isWhat || place === 'profile') && resourceKeys.includes(key)) {
    const why = isWhat ? `[${place}] says what to do; needs go into [profile]:` : 'needs go into resources:';
    return `${why}\n  [profile]\n  resources = { ${written} }`;
  }
  if (isWhat && profileKeys.includes(key)) {
    return `[${place}] says what to do; how to run it goes into [profile]:\n  [profile]\n  ${written}`;
  }
  if (place === 'profile' && key === 'name') {
    return `to use a profile by name, write above [job] or [service]:\n  profile = ${showValue(value)}`;
  }
  if ((place === 'profile' || place === '') && jobKeys.includes(key)) {
    return `what to do goes into [job]:\n  [job]\n  ${written}`;
  }
  if (place === '' && profileKeys.includes(key)) return `how to run it goes into [profile]:\n  [profile]\n  ${written}`;
  const known = keysAt[place] ?? [];
  const near = nearestWord(key, known);
  if (near !== undefined) return `did you mean "${near}"?`;
  return known.length === 0 ? 'remove it' : `the keys here are ${known.join(', ')}`;
}
