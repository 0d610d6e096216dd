import type { NodeKey, Project, Token } from './access/access.ts';
import type { Job } from './job/job.ts';
import type { Node } from './node/node.ts';
import type { Profile } from './profile/profile.ts';
import { type Secret, secretKey } from './secrets/secret.ts';
import type { Service } from './service/service.ts';
import { emptyState, type State } from './state.ts';
import type { UtcDay } from './usage/days.ts';
import type { UsageOfDay } from './usage/usage.ts';

/** Version of the shape below; a snapshot of another version is not used, the facts are. */
export const stateVersion = 5;

/**
 * The state as lines of JSON, in a fixed order, and back. Every field of it survives, maps and sets in their order of
 * insertion: a restored state goes on exactly as the one that was saved (X28).
 */
export function toRecords(state: State): readonly string[] {
  return partsOf(state).map(({ kind, value }) => JSON.stringify({ kind, value: encode(value) }));
}

/** The same before it is text: what each line holds. For reading only. */
export function partsOf(state: State): readonly { readonly kind: string; readonly value: unknown }[] {
  const { submitted, lossHeld, access } = state;
  return [
    { kind: 'state', value: { submitted, lossHeld } },
    ...ofKind('job', state.jobs.values()),
    ...ofKind('node', state.nodes.values()),
    ...ofKind('profile', state.profiles.values()),
    ...ofKind('service', state.services.values()),
    ...ofKind('secret', state.secrets.values()),
    ...ofKind('project', access.projects.values()),
    ...ofKind('token', access.tokens.values()),
    ...ofKind('node-key', access.nodeKeys.values()),
    ...ofKind(
      'usage',
      [...state.usage].map(([day, projects]) => ({ day, projects })),
    ),
  ];
}

function ofKind(
  kind: string,
  values: Iterable<unknown>,
): readonly { readonly kind: string; readonly value: unknown }[] {
  return Array.from(values, (value) => ({ kind, value }));
}

export function fromRecords(records: readonly string[]): State {
  const state = emptyState();
  for (const record of records) {
    const { kind, value } = JSON.parse(record) as { kind: string; value: unknown };
    const restored = decode(value);
    switch (kind) {
      case 'state':
        Object.assign(state, restored);
        // The records name every project, the one that always exists included.
        state.access.projects.clear();
        break;
      case 'job':
        state.jobs.set((restored as Job).id, restored as Job);
        break;
      case 'node':
        state.nodes.set((restored as Node).name, restored as Node);
        break;
      case 'profile':
        state.profiles.set((restored as Profile).name, restored as Profile);
        break;
      case 'service':
        state.services.set((restored as Service).name, restored as Service);
        break;
      case 'project':
        state.access.projects.set((restored as Project).name, restored as Project);
        break;
      case 'token':
        state.access.tokens.set((restored as Token).id, restored as Token);
        break;
      case 'node-key':
        state.access.nodeKeys.set((restored as NodeKey).node, restored as NodeKey);
        break;
      case 'usage': {
        const { day, projects } = restored as { day: UtcDay; projects: UsageOfDay };
        state.usage.set(day, projects);
        break;
      }
      case 'secret': {
        const { project, name } = restored as Secret;
        state.secrets.set(secretKey(project, name), restored as Secret);
        break;
      }
      default:
        throw new Error(`a snapshot holds a record of the unknown kind ${JSON.stringify(kind)}`);
    }
  }
  for (const job of state.jobs.values()) state.derived.pending.update(job);
  for (const node of state.nodes.values()) {
    for (const [task, allocation] of node.allocations) if (allocation.held) state.derived.held.add(task);
  }
  state.derived.placementDue = true;
  return state;
}

/** One job as plain JSON and back, for the archive. What needs no tag is shared with the job: to be written at once. */
export function jobToRecord(job: Job): unknown {
  return encode(job);
}

export function jobFromRecord(record: unknown): Job {
  return decode(record) as Job;
}

/**
 * Maps and sets become tagged lists; no key that the domain uses starts with `$`. What holds neither is given back as it
 * is: most of a state, whose copy would be most of the work.
 */
function encode(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Map) return { $map: [...value].map(([key, item]) => [key, encode(item)]) };
  if (value instanceof Set) return { $set: [...value].map(encode) };
  if (Array.isArray(value)) return encodeList(value);
  const entries = Object.entries(value);
  let isSame = true;
  for (const entry of entries) {
    const [key, item] = entry;
    const encoded = encode(item);
    if (encoded === item && !key.startsWith('$')) continue;
    isSame = false;
    entry[0] = key.startsWith('$') ? `$${key}` : key;
    entry[1] = encoded;
  }
  return isSame ? value : Object.fromEntries(entries);
}

function encodeList(items: readonly unknown[]): readonly unknown[] {
  const encoded = items.map(encode);
  return encoded.every((item, at) => item === items[at]) ? items : encoded;
}

function decode(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(decode);
  if (typeof value !== 'object' || value === null) return value;
  if ('$map' in value) return new Map((value.$map as [unknown, unknown][]).map(([key, item]) => [key, decode(item)]));
  if ('$set' in value) return new Set((value.$set as unknown[]).map(decode));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key.startsWith('$$') ? key.slice(1) : key, decode(item)]),
  );
}
