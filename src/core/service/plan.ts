import type { JobId } from '../job/job.ts';
import { type Replica, type Service, wantedReplicas } from './service.ts';

/**
 * What a service should do next, from what stands now. Pure, and computed when a fact about the service commits (X23).
 *
 * Two promises bound it. Available replicas never fall below `desired − maxUnavailable` by our own doing, and all
 * replicas together, those that are stopping included, never exceed `desired + maxSurge` by it.
 */
export interface Plan {
  /** Revisions of the replicas to start now. */
  readonly start: readonly number[];
  readonly dismiss: readonly Dismissal[];
  /** Available replicas of the newest revision. */
  readonly updated: number;
  /** Every replica that counts is of the newest revision and available; others may still be stopping. */
  readonly isUpdated: boolean;
  /** And nothing is stopping any more. */
  readonly isDone: boolean;
}

export interface Dismissal {
  readonly job: JobId;
  readonly reason: string;
}

const drainedAway = 'its node is being drained';

const nothing: Plan = { start: [], dismiss: [], updated: 0, isUpdated: false, isDone: false };

export function planService(service: Service, nowMs: number): Plan {
  const all = [...service.replicas.values()].filter((replica) => !isAway(service, replica));
  const active = all.filter((replica) => !replica.stopping);
  if (service.standing !== 'wanted') {
    const reason = service.standing === 'stopped' ? 'the service was stopped' : 'the service is complete';
    return { ...nothing, dismiss: active.map(({ job }) => ({ job, reason })) };
  }
  const { minReadyMs } = rolloutOf(service);
  const isUp: Judge = (replica) => isAvailable(replica, minReadyMs, nowMs);
  const situation = { all, active, wanted: wantedReplicas(service), isUp, nowMs };
  switch (service.rollout?.state) {
    case 'paused':
    case 'failed':
      return planHalted(service, situation);
    case 'progressing':
    case 'rolled-back':
    case 'done':
    case undefined:
      return planTowards(service, situation);
  }
}

interface Situation {
  readonly all: readonly Replica[];
  /** Those that are not stopping. */
  readonly active: readonly Replica[];
  readonly wanted: number;
  readonly isUp: Judge;
  readonly nowMs: number;
}

/** Whether a replica is available. */
type Judge = (replica: Replica) => boolean;

/** Towards the revision that is wanted: start what lacks of it, dismiss what is superfluous for it or too many (X24, X25). */
function planTowards(service: Service, { all, active, wanted, isUp, nowMs }: Situation): Plan {
  const { maxSurge, maxUnavailable } = rolloutOf(service);
  const stays = (replica: Replica): boolean => replica.revision === service.revision && !replica.moving;
  const current = active.filter(stays);
  const others = active.filter((replica) => !stays(replica));
  const updated = current.filter(isUp).length;
  const dismiss = [
    ...superfluous(others, wanted - maxUnavailable - updated, isUp).map((replica) => replaced(service, replica)),
    ...surplusOf(service, current, wanted, isUp),
  ];
  const room = wanted + maxSurge - all.length;
  const lacking = wanted - current.length - unconfirmedCount(service, all);
  const missing = isHeldBack(service, nowMs) ? 0 : Math.min(lacking, room);
  const isUpdated = others.length === 0 && updated >= wanted;
  const isDone = isUpdated && all.every((replica) => !replica.stopping || replica.ended);
  return { start: starts(missing, service.revision), dismiss, updated, isUpdated, isDone };
}

function replaced(service: Service, { job, revision }: Replica): Dismissal {
  if (revision === service.revision) return { job, reason: drainedAway };
  const isUndone = service.rollout?.state === 'rolled-back';
  return { job, reason: isUndone ? `undone: back to revision ${service.revision}` : 'replaced by the new revision' };
}

/**
 * Replicas of other revisions, or on nodes that must be empty soon, that are not needed any more. One that is ready goes only for an available successor, one
 * that was ready and has a chance to be again as well; one that never was serves nobody and makes room at once. One that
 * has only just become ready is not available yet, and goes before one that is.
 */
function superfluous(others: readonly Replica[], needed: number, isUp: Judge): readonly Replica[] {
  const ready = others.filter((replica) => replica.readySinceMs !== null);
  const recovering = others.filter((replica) => replica.readySinceMs === null && replica.wasReady);
  const never = others.filter((replica) => !replica.wasReady);
  const keepReady = Math.min(ready.length, Math.max(0, needed));
  const keepRecovering = Math.max(0, needed - keepReady);
  return [
    ...newestFirst(never),
    ...newestFirst(recovering).slice(0, Math.max(0, recovering.length - keepRecovering)),
    ...pickSurplus(ready, ready.length - keepReady, isUp),
  ];
}

/**
 * A rollout that was paused or failed: nothing of it moves on, and no replica is touched. One that is lacking is
 * replaced by the revision before, for that is what served; a replica of the new one that never came up makes room.
 */
function planHalted(service: Service, { all, active, wanted, isUp, nowMs }: Situation): Plan {
  const { maxSurge } = rolloutOf(service);
  const from = service.rollout?.from ?? service.revision;
  const fresh = active.filter((replica) => replica.revision === service.revision);
  const old = active.filter((replica) => replica.revision !== service.revision);
  const updated = fresh.filter(isUp).length;
  const scaled = [
    ...surplusOf(service, stay(old), wanted, isUp),
    ...surplusOf(service, stay(fresh), wanted, isUp),
    ...movedOff(service, { active, wanted, isUp }),
  ];
  const gone = new Set(scaled.map(({ job }) => job));
  const left = active.filter(({ job }) => !gone.has(job));
  const dismiss = [...scaled, ...surplusOf(service, left, wanted + maxSurge, isUp)];
  if (dismiss.length > 0) return { ...nothing, updated, dismiss };
  // A first revision that failed has none before it: all that runs is of it.
  const serving = from === service.revision ? stay(active).length : stay(old).length + stay(fresh).filter(isUp).length;
  const lacking = wanted - serving - unconfirmedCount(service, all);
  if (lacking <= 0 || isHeldBack(service, nowMs) || !service.revisions.has(from)) return { ...nothing, updated };
  const idle = from === service.revision ? [] : fresh.filter((replica) => replica.readySinceMs === null);
  const short = lacking - (wanted + maxSurge - active.length);
  const making = pickSurplus(idle, Math.min(short, idle.length), isUp);
  const reason = `makes room for revision ${from}, which serves`;
  const start = starts(Math.min(lacking, wanted + maxSurge - all.length), from);
  return { ...nothing, updated, start, dismiss: making.map(({ job }) => ({ job, reason })) };
}

/** Of those on nodes that must be empty soon, the ones that enough others stand in for. */
function movedOff(
  service: Service,
  { active, wanted, isUp }: Pick<Situation, 'active' | 'wanted' | 'isUp'>,
): readonly Dismissal[] {
  const { maxUnavailable } = rolloutOf(service);
  const moving = active.filter((replica) => replica.moving);
  const staying = active.filter((replica) => !replica.moving && isUp(replica)).length;
  return superfluous(moving, wanted - maxUnavailable - staying, isUp).map(({ job }) => ({ job, reason: drainedAway }));
}

const stay = (replicas: readonly Replica[]): readonly Replica[] => replicas.filter(({ moving }) => !moving);

/** Under `onNodeLoss: wait` there are never two: whatever may still live stands for the replica that it was. */
function unconfirmedCount(service: Service, all: readonly Replica[]): number {
  return all.filter(
    (replica) =>
      replica.ended && !replica.dismissed && service.revisions.get(replica.revision)?.settings.onNodeLoss === 'wait',
  ).length;
}

/**
 * It ended with its node, which may come back with a copy of it. Whoever does not say `wait` takes that copy into the
 * bargain, and it holds nothing up: it is stopped as soon as its node is heard.
 */
function isAway(service: Service, { ended, away, dismissed, revision }: Replica): boolean {
  return ended && away && (dismissed || service.revisions.get(revision)?.settings.onNodeLoss !== 'wait');
}

/** Ready without a break for long enough: only that counts (C4). */
export function isAvailable(replica: Replica, minReadyMs: number, nowMs: number): boolean {
  return replica.readySinceMs !== null && nowMs - replica.readySinceMs >= minReadyMs;
}

/** Whether the next replacement still waits for its backoff. */
export function isHeldBack(service: Service, nowMs: number): boolean {
  return service.backoff !== null && service.backoff.untilMs > nowMs;
}

export function rolloutOf(service: Service): { maxSurge: number; maxUnavailable: number; minReadyMs: number } {
  const revision = service.revisions.get(service.revision);
  return revision?.settings.rollout ?? { maxSurge: 1, maxUnavailable: 0, minReadyMs: 0 };
}

function surplusOf(service: Service, replicas: readonly Replica[], most: number, judge: Judge): readonly Dismissal[] {
  return pickSurplus(replicas, replicas.length - most, judge).map(({ job }) => ({
    job,
    reason: `scaled to ${service.desired}`,
  }));
}

/** Not-ready ones first, then the newest (X24); one that is not ready for long enough yet is no loss either. */
function pickSurplus(replicas: readonly Replica[], count: number, judge: Judge): readonly Replica[] {
  if (count <= 0) return [];
  const tiers = [
    replicas.filter((replica) => replica.readySinceMs === null),
    replicas.filter((replica) => replica.readySinceMs !== null && !judge(replica)),
    replicas.filter(judge),
  ];
  return tiers.flatMap(newestFirst).slice(0, count);
}

/** Replicas are kept in the order of their submission. */
function newestFirst(replicas: readonly Replica[]): readonly Replica[] {
  return [...replicas].reverse();
}

function starts(count: number, revision: number): readonly number[] {
  return Array.from({ length: Math.max(0, count) }, () => revision);
}
