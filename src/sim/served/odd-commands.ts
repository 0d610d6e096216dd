import type { ExecuteOptions } from '../../control/decide-batch.ts';
import type { Command, SubmitJob } from '../../core/command.ts';
import { parseTaskKey } from '../../core/job/job.ts';
import type { JobSpec } from '../../core/job/spec.ts';
import { isRefusal } from '../../core/refusal.ts';
import type { State } from '../../core/state.ts';
import type { ClientContext } from '../client-actions.ts';

interface Odd {
  readonly command: Command;
  readonly options?: ExecuteOptions;
}

/** Sends what nobody should: it must be refused by name and change nothing. */
export async function sendNonsense({ cluster, life, plane }: ClientContext): Promise<void> {
  const { random, history, world } = cluster;
  const odd = random.pick(nonsense)(plane.state, `odd-${random.below(1_000_000)}`);
  if (odd === null) return;
  const answer = await plane.execute(odd.command, odd.options);
  if (isRefusal(answer)) history.refusals.push(answer);
  else if (answer.kind !== 'reported' || answer.stale.length === 0)
    history.rogues.push({ what: `nonsense (${odd.command.kind})`, expected: JSON.stringify(odd), code: null });
  world.note(life.name, `${odd.command.kind}, which is nonsense: ${isRefusal(answer) ? answer.code : 'done'}`);
}

type Nonsense = (state: State, id: string) => Odd | null;

const submission = (id: string, spec: Partial<JobSpec>): SubmitJob => ({
  kind: 'SubmitJob',
  spec: { name: 'odd', run: 'true', setup: null, workspace: null, outputs: [], env: {}, args: [], ...spec },
  source: null,
  profile: null,
  layers: [],
  workspace: null,
  project: 'default',
  owner: 'someone',
  retryOf: null,
  indices: null,
  ids: [id],
});

const nonsense: readonly Nonsense[] = [
  (_state, id) => ({ command: submission(id, { name: 'No Name' }) }),
  (_state, id) => ({ command: submission(id, { env: { 'A=B': 'x' } }) }),
  (_state, id) => ({ command: submission(id, { args: ['a\u0000b'] }) }),
  (_state, id) => ({ command: submission(id, { outputs: ['../outside'] }) }),
  (_state, id) => {
    const manifest = '0'.repeat(64);
    const workspace = { manifest, files: 1, sizeBytes: 1 };
    return { command: { ...submission(id, {}), workspace }, options: { blobs: [manifest] } };
  },
  (_state, id) => ({
    command: submission(id, {}),
    options: { actor: { kind: 'user', name: 'eve', token: 'unknown' } },
  }),
  (state, id) => {
    const [node] = state.access.nodeKeys.keys();
    return node === undefined
      ? null
      : { command: submission(id, {}), options: { actor: { kind: 'node', name: node } } };
  },
  (state) => {
    const [job] = state.jobs.values();
    return job === undefined || job.service !== null ? null : { command: submission(job.id, {}) };
  },
  (state) => {
    const [node] = state.nodes.keys();
    const about = { node: node ?? 'nowhere', reason: 'nonsense', by: 'eve', deadlineMs: -1 };
    return { command: { kind: 'DrainNode', ...about } };
  },
  fromTheFuture,
  fromThePast,
];

/** A node's own report of an attempt that another has replaced: it is told to end it. */
function fromThePast(state: State): Odd | null {
  for (const { name, instance, allocations } of state.nodes.values()) {
    for (const text of allocations.keys()) {
      const key = parseTaskKey(text);
      if (key === null || key.attempt < 2 || !state.jobs.get(key.job)?.elements.has(key.index)) continue;
      const event = { ...key, attempt: key.attempt - 1, kind: 'GaveUp' as const, message: 'long ago' };
      return { command: { kind: 'NodeReport', node: name, instance, events: [event], released: [] } };
    }
  }
  return null;
}

/** A report of an attempt that was never placed. */
function fromTheFuture(state: State): Odd | null {
  for (const { name, instance, allocations } of state.nodes.values()) {
    for (const text of allocations.keys()) {
      const key = parseTaskKey(text);
      if (key === null || !state.jobs.get(key.job)?.elements.has(key.index)) continue;
      const event = { ...key, attempt: key.attempt + 1000, kind: 'NodeReady' as const };
      return { command: { kind: 'NodeReport', node: name, instance, events: [event], released: [] } };
    }
  }
  return null;
}
