import { openDirectoryStore } from '../blobs/directory-store.ts';
import { pushTree } from '../blobs/push.ts';
import type { ControlPlane } from '../control/control-plane.ts';
import type { ExecuteOptions } from '../control/decide-batch.ts';
import { saveState } from '../control/snapshots.ts';
import type { Answer, Command } from '../core/command.ts';
import { decide } from '../core/decide.ts';
import type { WorkspaceRef } from '../core/job/spec.ts';
import { withoutLeases } from '../core/node/lease-times.ts';
import { whyWaiting } from '../core/placement/waiting.ts';
import { isRefusal, type Refusal } from '../core/refusal.ts';
import { blobDirectory, type Cluster } from './cluster.ts';
import type { Life } from './life.ts';
import { hashState } from './state-hash.ts';
import { submissionOf } from './submission.ts';
import type { Intent } from './workload.ts';

/** What a client's actions work with. */
export interface ClientContext {
  readonly cluster: Cluster;
  readonly life: Life;
  readonly plane: ClientPlane;
}

/** What a client asks of a control plane: its own, or that of a server. */
export type ClientPlane = Pick<ControlPlane, 'state' | 'seq' | 'log' | 'nowMs' | 'execute' | 'catchUp'>;

/** Pushes the workspace where there is one, then submits under the intent's key: again and again until there is an answer. */
export async function submit(context: ClientContext, intent: Intent): Promise<void> {
  const { cluster, life, plane } = context;
  const { key, spec, settings } = intent;
  const workspace = spec.workspace === null ? null : await push(context, key);
  const ids = [0, 1].map(() => `${key}-${cluster.random.below(1000)}`);
  const command = submissionOf({ spec, settings, ids, workspace });
  decideTwice(context, command);
  const blobs = workspace === null ? {} : { blobs: [workspace.manifest] };
  const answer = await plane.execute(command, { idempotencyKey: key, ...blobs });
  cluster.history.answers.push({ key, name: spec.name, answer });
  cluster.world.note(life.name, `submission ${key} is answered: ${isRefusal(answer) ? answer.code : answer.kind}`);
  if (isRefusal(answer)) cluster.history.refusals.push(answer);
  // A full disk, or an id that was taken, is answered otherwise the next time.
  const isFinal = !isRefusal(answer) || (answer.code !== 'STORE_FULL' && answer.code !== 'ID_TAKEN');
  if (isFinal) intent.isAnswered = true;
}

async function push({ life, plane }: ClientContext, key: string): Promise<WorkspaceRef> {
  const { host } = life;
  const directory = `/project/${key}`;
  await host.files.makeDirectory(`${directory}/data`);
  for (const name of ['a.txt', 'data/b.txt']) {
    await host.files.write(`${directory}/${name}`, new TextEncoder().encode(`${name} of ${key}\n`), { mode: 0o644 });
  }
  const store = await openDirectoryStore({ directory: blobDirectory, host });
  const statCachePath = `/project/${key}.cache`;
  const pushed = await pushTree({ directory, exclude: [], landing: [], store, statCachePath, host });
  await plane.log.recordBlobs([pushed.manifestHash]);
  return { manifest: pushed.manifestHash, files: pushed.files, sizeBytes: pushed.bytes };
}

/** Carries out what anybody may ask; refusals are remembered. */
export async function ask(
  context: ClientContext,
  command: Command,
  options: ExecuteOptions = {},
): Promise<Answer | Refusal> {
  const { cluster, life, plane } = context;
  decideTwice(context, command);
  const answer = await plane.execute(command, options);
  cluster.world.note(life.name, `${command.kind}: ${isRefusal(answer) ? answer.code : 'done'}`);
  if (isRefusal(answer)) cluster.history.refusals.push(answer);
  return answer;
}

/** Something random that people do. */
export async function meddle(context: ClientContext): Promise<void> {
  const { random } = context.cluster;
  const actions = [stopSomething, stopSomething, drainSomething, resumeSomething, failUnschedulable, removeNode];
  await random.pick([...actions, applyProfile, takeSnapshot, speakForOthers, speakForOthers])(context);
}

/** Remembers what this process holds, for the comparison with the log. */
export async function sample({ cluster, life, plane }: ClientContext): Promise<void> {
  await plane.catchUp();
  cluster.history.samples.push({ who: life.name, seq: plane.seq, hash: hashState(plane.state) });
}

export async function stopSomething(context: ClientContext): Promise<void> {
  const { random } = context.cluster;
  const jobs = [...context.plane.state.jobs.values()];
  if (jobs.length === 0) return;
  const job = random.pick(jobs);
  const size = job.settings.array?.size ?? 1;
  const indices = random.happens(0.3) ? [random.below(size + 1)] : null;
  const graceMs = random.happens(0.5) ? null : random.pick([0, 1000]);
  await ask(context, { kind: 'StopJob', job: job.id, indices, by: context.life.name, graceMs });
}

export async function drainSomething(context: ClientContext): Promise<void> {
  const node = pickNode(context);
  await ask(context, { kind: 'DrainNode', node, reason: 'maintenance', by: context.life.name, deadlineMs: null });
}

export async function resumeSomething(context: ClientContext): Promise<void> {
  await ask(context, { kind: 'ResumeNode', node: pickNode(context), by: context.life.name });
}

export async function removeNode(context: ClientContext): Promise<void> {
  await ask(context, { kind: 'RemoveNode', node: pickNode(context), by: context.life.name });
}

export async function failUnschedulable(context: ClientContext): Promise<void> {
  const { plane } = context;
  for (const job of plane.state.jobs.values()) {
    if (whyWaiting(plane.state, job, plane.nowMs())?.reason !== 'no-fit') continue;
    await ask(context, { kind: 'FailUnschedulable', job: job.id, message: 'no node can run it' });
    return;
  }
}

export async function applyProfile(context: ClientContext): Promise<void> {
  const { random } = context.cluster;
  const values = { priority: random.below(3) };
  await ask(context, {
    kind: 'ApplyProfile',
    name: random.pick(['big', 'small']),
    values,
    source: null,
    by: 'someone',
  });
}

async function takeSnapshot({ cluster, life, plane }: ClientContext): Promise<void> {
  await plane.catchUp();
  const { state, seq } = plane;
  const hash = cluster.store.tables?.batchEndingAt(seq)?.hash;
  if (hash !== undefined) await saveState(plane.log, life.host, { state, seq, hash });
}

/** Reports of an agent that was replaced, of no node at all, and of a node about another node's task. */
export async function speakForOthers(context: ClientContext): Promise<void> {
  const { cluster, plane } = context;
  const { state } = plane;
  const tasks = [...state.nodes.values()].flatMap((node) =>
    [...node.allocations.keys()].map((text) => ({ node, text })),
  );
  const [first] = tasks;
  if (first === undefined) return;
  const { node, text } = cluster.random.pick(tasks);
  const [job = '', index, rank, attempt] = text.split('.');
  const key = { job, index: Number(index), rank: Number(rank), attempt: Number(attempt) };
  const event = { ...key, kind: 'JobExited' as const, exitCode: 0, signal: null, detail: null };
  const others = [...state.nodes.values()].filter((one) => one.name !== node.name);
  const report = { kind: 'NodeReport' as const, events: [event], released: [] };
  const rogue = cluster.random.pick([
    { what: 'a replaced agent', node: node.name, instance: 'replaced', expected: 'STALE_ATTEMPT NOT_FOUND' },
    { what: 'no node', node: 'nowhere', instance: 'none', expected: 'NOT_FOUND' },
    ...others.map((other) => ({
      what: 'another node',
      node: other.name,
      instance: other.instance,
      expected: 'NOT_ASSIGNED STALE_ATTEMPT NOT_FOUND stale',
    })),
  ]);
  const answer = await ask(context, { ...report, node: rogue.node, instance: rogue.instance });
  const code = isRefusal(answer) ? answer.code : answer.kind === 'reported' && answer.stale.length > 0 ? 'stale' : null;
  if (code !== 'STORE_FULL') cluster.history.rogues.push({ what: rogue.what, expected: rogue.expected, code });
}

export function pickNode({ cluster, plane }: ClientContext): string {
  const names = [...plane.state.nodes.keys()];
  return names.length === 0 ? 'nowhere' : cluster.random.pick(names);
}

/** The core is pure: asked twice it says the same, and the state is as it was. */
function decideTwice({ cluster, plane }: ClientContext, command: Command): void {
  // Comparing whole states costs most of what a command costs.
  if (cluster.random.happens(0.9)) return;
  const { state } = plane;
  const context = {
    nowMs: plane.nowMs(),
    atMs: plane.nowMs(),
    archivedIds: new Set<string>(),
    missingBlobs: new Set<string>(),
    ...withoutLeases,
  };
  const { kind } = command;
  const { decisions } = cluster.history;
  try {
    const before = hashState(state);
    const [first, second] = [decide(state, command, context), decide(state, command, context)];
    const isEqual = JSON.stringify(first) === JSON.stringify(second);
    decisions.push({ kind, isEqual, changedState: hashState(state) !== before, threw: null });
  } catch (error) {
    decisions.push({ kind, isEqual: false, changedState: false, threw: String(error) });
  }
}
