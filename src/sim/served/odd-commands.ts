import type { ExecuteOptions } from '../../control/decide-batch.ts';
import type { Command } from '../../core/command.ts';
import { parseTaskKey, type TaskKey } from '../../core/job/job.ts';
import type { Node } from '../../core/node/node.ts';
import { isRefusal, type RefusalCode } from '../../core/refusal.ts';
import type { State } from '../../core/state.ts';
import type { ClientContext } from '../client-actions.ts';
import { oddSubmission, oddSubmissions } from './odd-submissions.ts';

interface Odd {
  readonly command: Command;
  readonly options?: ExecuteOptions;
  /** How it may be refused; what it is about may be gone by the time it is decided. */
  readonly codes: readonly (RefusalCode | 'stale')[];
}

/** Sends what nobody should: it must be refused by name and change nothing. */
export async function sendNonsense({ cluster, life, plane }: ClientContext): Promise<void> {
  const { random, history, world } = cluster;
  const odd = random.pick(nonsense)(plane.state, `odd-${random.below(1_000_000)}`);
  if (odd === null) return;
  const answer = await plane.execute(odd.command, odd.options);
  if (isRefusal(answer)) history.refusals.push(answer);
  const isStale = !isRefusal(answer) && answer.kind === 'reported' && answer.stale.length > 0;
  const code = isRefusal(answer) ? answer.code : isStale ? 'stale' : null;
  const what = `nonsense (${odd.command.kind})`;
  if (code !== 'STORE_FULL') history.rogues.push({ what, expected: odd.codes.join(' '), code });
  world.note(life.name, `${odd.command.kind}, which is nonsense: ${code ?? 'done'}`);
}

type Nonsense = (state: State, id: string) => Odd | null;

const nonsense: readonly Nonsense[] = [
  ...oddSubmissions.map(
    ({ code, spec, settings }): Nonsense =>
      (_state, id) => ({ command: oddSubmission(id, spec, settings), codes: [code] }),
  ),
  (_state, id) => {
    const manifest = '0'.repeat(64);
    const workspace = { manifest, files: 1, sizeBytes: 1 };
    const options = { blobs: [manifest] };
    return { command: { ...oddSubmission(id), workspace }, options, codes: ['MISSING_BLOBS'] };
  },
  (_state, id) => {
    const options = { actor: { kind: 'user', name: 'eve', token: 'unknown' } } as const;
    return { command: oddSubmission(id), options, codes: ['UNAUTHORIZED'] };
  },
  (state, id) => {
    const [node] = state.access.nodeKeys.keys();
    if (node === undefined) return null;
    return {
      command: oddSubmission(id),
      options: { actor: { kind: 'node', name: node } },
      codes: ['FORBIDDEN', 'UNAUTHORIZED'],
    };
  },
  (state) => {
    const job = [...state.jobs.values()].find(({ service }) => service === null);
    return job === undefined ? null : { command: oddSubmission(job.id), codes: ['ID_TAKEN'] };
  },
  (state, id) => {
    // Simulated people submit under the name of the job as key.
    const job = [...state.jobs.values()].find(({ service, name }) => service === null && name.startsWith('k'));
    if (job === undefined) return null;
    const options = { idempotencyKey: job.name };
    return { command: oddSubmission(id), options, codes: ['IDEMPOTENCY_MISMATCH'] };
  },
  (state) => {
    const [node] = state.nodes.keys();
    const about = { node: node ?? 'nowhere', reason: 'nonsense', by: 'eve', deadlineMs: -1 };
    return { command: { kind: 'DrainNode', ...about }, codes: ['RANGE', 'NOT_FOUND'] };
  },
  () => {
    const about = { project: 'default', name: 'unread', by: 'eve' };
    return { command: { kind: 'SetSecret', ...about, boxes: {} }, codes: ['NO_NODE'] };
  },
  () => {
    const boxes = { [`${'A'.repeat(43)}=`]: 'A'.repeat(200_000) };
    const about = { project: 'default', name: 'large', by: 'eve' };
    return { command: { kind: 'SetSecret', ...about, boxes }, codes: ['TOO_LARGE'] };
  },
  (state) => {
    const token = [...state.access.tokens.values()].find((one) => one.kind === 'join' && one.node === null);
    const [node] = state.nodes.keys();
    if (token === undefined || node === undefined) return null;
    const codes = ['NODE_TAKEN', 'UNAUTHORIZED'] as const;
    return { command: { kind: 'UseJoinToken', token: token.id, node, keyHash: 'f'.repeat(64) }, codes };
  },
  fromTheFuture,
  fromThePast,
];

/** What a report of an attempt may be refused with once its node, its agent or its job is another. */
const gone = ['NOT_FOUND', 'STALE_ATTEMPT', 'NOT_ASSIGNED', 'stale'] as const;

/** A node's own report of an attempt that another has replaced: it is told to end it. */
function fromThePast(state: State): Odd | null {
  for (const [{ name, instance }, key] of attemptsOn(state)) {
    if (key.attempt < 2) continue;
    const event = { ...key, attempt: key.attempt - 1, kind: 'GaveUp' as const, message: 'long ago' };
    return { command: { kind: 'NodeReport', node: name, instance, events: [event], released: [] }, codes: gone };
  }
  return null;
}

/** A report of an attempt that was never placed. */
function fromTheFuture(state: State): Odd | null {
  for (const [{ name, instance }, key] of attemptsOn(state)) {
    const event = { ...key, attempt: key.attempt + 1000, kind: 'NodeReady' as const };
    const codes = ['FUTURE_ATTEMPT', ...gone] as const;
    return { command: { kind: 'NodeReport', node: name, instance, events: [event], released: [] }, codes };
  }
  return null;
}

function* attemptsOn(state: State): Generator<readonly [Node, TaskKey]> {
  for (const node of state.nodes.values()) {
    for (const text of node.allocations.keys()) {
      const key = parseTaskKey(text);
      if (key !== null && state.jobs.get(key.job)?.elements.has(key.index) === true) yield [node, key];
    }
  }
}
