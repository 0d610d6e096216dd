import { sumOf, type Usage, whyOverQuota } from '../access/quota.ts';
import type { Element, Job } from '../job/job.ts';
import { elementCount } from '../job/job.ts';
import { awaitedNode } from '../node/loss.ts';
import type { Needs } from '../profile/settings.ts';
import type { Waiting, WaitReason } from '../reason.ts';
import { howToSet } from '../secrets/decide.ts';
import { closedSecrets } from '../secrets/openers.ts';
import { secretKey } from '../secrets/secret.ts';
import type { State } from '../state.ts';
import { describeDuration, writeSize } from '../units.ts';
import { fitOnNode, isAllocation, type WhyNot } from './fit.ts';
import { waitsForRelease } from './place.ts';
import { companyOf } from './spread.ts';

/** Why a job has something that waits; null when nothing of it does. Computed when it is asked for (B10). */
export function whyWaiting(state: State, job: Job, nowMs: number): Waiting | null {
  if (job.outcome !== null) return null;
  const claimed = claimedNode(job);
  if (claimed !== null) return { reason: 'node-away', message: `placed on node ${claimed}, which is not connected` };
  const lost = lostNode(state, job);
  if (lost !== null) {
    return {
      reason: 'node-lost',
      message: `node ${lost} is lost; it waits for it (without it: yard retry ${job.id})`,
    };
  }
  if (job.cursor >= elementCount(job) && job.requeued.size === 0) return null;
  const backoff = backoffOf(job, nowMs);
  if (backoff !== null) return backoff;
  const unconfirmed = unconfirmedOf(state, job);
  if (unconfirmed !== null) return unconfirmed;
  const most = job.settings.array?.maxRunning ?? null;
  if (most !== null && job.live >= most) {
    return { reason: 'array-limit', message: `runs ${job.live} at once, as many as it may` };
  }
  const why = tooCrowded(state, job) ?? whyNotPlaced(state, job.settings.resources, job.settings.nodes, job);
  return passing.has(why.reason) ? (heldByQuota(state, job) ?? why) : why;
}

/** What goes by when other work ends; anything else holds up the job whatever its project may use. */
const passing: ReadonlySet<WaitReason> = new Set(['busy', 'spread', 'draining']);

/** Null where its project may use so much more. */
export function heldByQuota(state: State, { project, settings }: Pick<Job, 'project' | 'settings'>): Waiting | null {
  const { nodes, resources } = settings;
  const message = whyOverQuota(state, project, usageOf(state, resources, nodes));
  return message === null ? null : { reason: 'quota', message };
}

/** What so many tasks would take; of whole nodes, what the first ones that fit would give. */
function usageOf(state: State, needs: Needs, nodes: number): Usage {
  if (needs.gpus !== 'all') return { gpus: needs.gpus * nodes, cores: needs.cpus * nodes };
  const fits = [...state.nodes.values()]
    .map((node) => fitOnNode(node, needs, state.derived.free.of(node)))
    .filter(isAllocation);
  return sumOf(fits.slice(0, nodes));
}

/** Under strict spread: there would be room, if it were not on nodes that have a replica already. */
function tooCrowded(state: State, job: Job): Waiting | null {
  const { spread, replicas } = companyOf(state, job);
  if (spread !== 'strict' || replicas.size === 0) return null;
  const { resources, nodes } = job.settings;
  const closed = closedSecrets(state, job);
  const fitting = [...state.nodes.values()].filter((node) =>
    isAllocation(fitOnNode(node, resources, state.derived.free.of(node), closed)),
  );
  const open = fitting.filter((node) => !replicas.has(node.name)).length;
  if (fitting.length < nodes || open >= nodes) return null;
  const taken = fitting.length - open;
  const what = nodes === 1 ? 'a node' : `${nodes} nodes`;
  const where = taken === 1 ? 'the one that fits has one' : `all ${taken} that fit have one`;
  const rest = open === 0 ? where : `${taken} of the ${fitting.length} that fit have one`;
  const service = job.service?.name ?? job.name;
  return { reason: 'spread', message: `needs ${what} without a replica of ${service} (spread = "strict"), ${rest}` };
}

function claimedNode(job: Job): string | null {
  for (const element of job.elements.values()) {
    const task = element.kind === 'live' ? element.tasks.find((one) => one.step === 'claimed') : undefined;
    if (task !== undefined) return task.node;
  }
  return null;
}

function lostNode(state: State, job: Job): string | null {
  if (job.settings.onNodeLoss !== 'wait') return null;
  for (const index of job.elements.keys()) {
    const node = awaitedNode(state, job, index);
    if (node !== null) return node;
  }
  return null;
}

function backoffOf(job: Job, nowMs: number): Waiting | null {
  if (job.cursor < elementCount(job)) return null;
  const pending = [...job.requeued]
    .map((index) => job.elements.get(index))
    .filter((one) => one?.kind === 'pending') as Extract<Element, { kind: 'pending' }>[];
  const next = pending.sort((a, b) => a.notBeforeMs - b.notBeforeMs)[0];
  if (next === undefined || next.notBeforeMs <= nowMs) return null;
  const cause = next.lastFailure === null ? '' : ` (${next.lastFailure})`;
  return {
    reason: 'backoff',
    message: `attempt ${next.attempt + 1} starts in ${describeDuration(next.notBeforeMs - nowMs)}${cause}`,
  };
}

function unconfirmedOf(state: State, job: Job): Waiting | null {
  if (job.cursor < elementCount(job)) return null;
  for (const index of job.requeued) if (!waitsForRelease(state, job, index)) return null;
  const left = [...state.derived.held].find((task) => task.startsWith(`${job.id}.`));
  if (left === undefined) return null;
  return { reason: 'unconfirmed', message: `processes of ${left} may still run, and it must never run twice` };
}

/** Why these needs, and the secrets of the work, fit nowhere right now, by the node that comes nearest. */
export function whyNotPlaced(state: State, needs: Needs, nodes: number, work: Pick<Job, 'project' | 'spec'>): Waiting {
  const closed = closedSecrets(state, work);
  const fits = [...state.nodes.values()].map((node) => fitOnNode(node, needs, state.derived.free.of(node), closed));
  const reasons = fits.filter((fit) => !isAllocation(fit)) as WhyNot[];
  const connected = reasons.filter((why) => why.kind !== 'away');
  if (fits.length === reasons.length && connected.length === 0) {
    return { reason: 'no-node', message: fits.length === 0 ? 'no node is running' : 'no node is connected' };
  }
  const open = fits.length - reasons.length;
  if (open >= nodes) return { reason: 'busy', message: 'is about to be placed' };
  const possible = open + reasons.filter((why) => why.kind === 'busy' || why.kind === 'draining').length;
  const secret = connected.find((why) => why.kind === 'secret');
  if (secret !== undefined && possible < nodes) return closedTo(state, work.project, secret.name);
  if (nodes > 1 && possible < nodes) {
    return { reason: 'too-few-nodes', message: `needs ${nodes} nodes at once, ${possible} could take it` };
  }
  const busy = most(connected, 'busy');
  if (busy !== null) {
    const where = busy.free > 0 ? `only ${amount(busy.what, busy.free)} free where it fits` : 'all taken where it fits';
    return { reason: 'busy', message: `needs ${amount(busy.what, busy.needs)}, ${where}` };
  }
  if (connected.some((why) => why.kind === 'draining'))
    return { reason: 'draining', message: 'the nodes that fit are being drained' };
  const never = most(connected, 'never');
  if (never !== null) {
    const wish = never.detail === null ? '' : ` (${never.detail})`;
    return {
      reason: 'no-fit',
      message: `needs ${amount(never.what, never.needs)}${wish}, the largest node has ${amount(never.what, never.has)}`,
    };
  }
  const label = connected.find((why) => why.kind === 'labels');
  if (label !== undefined) return { reason: 'no-fit', message: `no node has the label ${label.label}` };
  return { reason: 'busy', message: 'is about to be placed' };
}

function closedTo(state: State, project: string, name: string): Waiting {
  const why = state.secrets.has(secretKey(project, name)) ? 'no ready node can open' : 'is not set any more';
  return { reason: 'secret', message: `needs secret ${name}, which ${why}: ${howToSet(project, name)}` };
}

function most<Kind extends 'busy' | 'never'>(
  reasons: readonly WhyNot[],
  kind: Kind,
): Extract<WhyNot, { kind: Kind }> | null {
  let best: Extract<WhyNot, { kind: Kind }> | null = null;
  for (const why of reasons) {
    if (why.kind !== kind) continue;
    const candidate = why as Extract<WhyNot, { kind: Kind }>;
    if (best === null || has(candidate) > has(best)) best = candidate;
  }
  return best;
}

function has(why: Extract<WhyNot, { kind: 'busy' | 'never' }>): number {
  return why.kind === 'busy' ? why.free : why.has;
}

function amount(what: 'GPUs' | 'cores' | 'memory', value: number): string {
  if (what === 'memory') return `${writeSize(value)} of memory`;
  return `${value} ${value === 1 ? what.slice(0, -1) : what}`;
}
