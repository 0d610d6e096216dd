import type { ReplicaView } from '../../core/service/view.ts';
import { describeDuration } from '../../core/units.ts';
import { phaseOf } from '../follow/phase.ts';
import { describeAge } from '../views/age.ts';

/** Where one replica stands, in a word and what there is to say about it. */
export interface ReplicaLine {
  readonly word: 'ready' | 'starting' | 'not ready' | 'stopping' | 'waiting' | 'ended';
  readonly detail: string;
  readonly tone: 'good' | 'bad' | 'waiting' | null;
}

const steps: Readonly<Record<string, string>> = { materialize: 'unpacking the workspace', setup: 'in setup' };

export function replicaLine(replica: ReplicaView, nowMs: number): ReplicaLine {
  const { state, outcome, waiting, settings, stopping, ready } = replica;
  if (outcome !== null) return { word: 'ended', detail: outcome.message, tone: null };
  if (stopping) {
    return {
      word: 'stopping',
      detail: `within ${describeDuration(settings.graceMs).replace('.0 s', ' s')}`,
      tone: null,
    };
  }
  if (ready)
    return { word: 'ready', detail: [`up ${upFor(replica, nowMs)}`, restartsOf(replica)].join(''), tone: 'good' };
  if (state === 'PENDING') return { word: 'waiting', detail: waiting?.message ?? '', tone: 'waiting' };
  const failed = restartsOf(replica) !== '' || wasReady(replica);
  const why = reasonOf(replica);
  return failed ? { word: 'not ready', detail: why, tone: 'bad' } : { word: 'starting', detail: why, tone: 'waiting' };
}

/** How often its processes were started again, all tasks together. */
export function restartsIn(replica: ReplicaView): number {
  return replica.tasks.reduce((sum, task) => sum + task.restarts, 0);
}

export function lastFailureOf(replica: ReplicaView): string | null {
  return replica.tasks.find((task) => task.lastFailure !== null)?.lastFailure ?? null;
}

/** What to do about a replica that is not ready, where its reason tells; null where it does not. */
export function hintFor(replica: ReplicaView): string | null {
  return replica.ready ? null : hintInReason(replica.reason ?? '', replica);
}

/**
 * A command that listens elsewhere than where it was told to is never found ready, and one that listens nowhere only
 * where it has no port. Nobody may have thought of that where no probe was written.
 */
export function hintInReason(reason: string, replica: ReplicaView | null): string | null {
  if (reason.includes('; the process listens on ')) return 'start it with --port $PORT';
  if (replica === null || restartsIn(replica) > 0) return null;
  const { startup, readiness } = replica.settings;
  if (startup !== null || readiness !== null || !/(?:^|not ready: )port \d+ refused$/.test(reason)) return null;
  return 'listen on $PORT, or write port = false where nobody connects to it';
}

function upFor({ startedAt }: ReplicaView, nowMs: number): string {
  return startedAt === null ? '–' : describeAge(nowMs - Date.parse(startedAt));
}

function restartsOf(replica: ReplicaView): string {
  const count = restartsIn(replica);
  return count === 0 ? '' : `, ${count === 1 ? '1 restart' : `${count} restarts`}`;
}

function wasReady({ tasks }: ReplicaView): boolean {
  return tasks.some((task) => task.ready === false && task.endpoint !== null);
}

function reasonOf(replica: ReplicaView): string {
  const failure = lastFailureOf(replica);
  const said = withoutOldCount((replica.reason ?? '').replace(/^not ready: /, ''));
  const restarts = restartsOf(replica).replace(/^, /, '');
  const parts = [said === '' ? (steps[phaseOf(replica).kind] ?? '') : said, restarts];
  if (failure !== null && !said.includes(failure)) parts.push(`last: ${failure}`);
  return parts.filter(Boolean).join(', ');
}

/** A reason is told once for each cause, and not each time that a probe fails again: its count would soon be wrong. */
function withoutOldCount(reason: string): string {
  return reason.replace(/^startup (\d+) of (\d+), /, (whole, count, most) =>
    count === most ? whole : 'startup probe: ',
  );
}
