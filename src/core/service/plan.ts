import type { JobId } from '../job/job.ts';
import type { Replica, Service } from './service.ts';

/**
 * What a service should do next, from what stands now. Pure, and computed when a fact about the service commits (X23).
 *
 * Two promises bound it. Available replicas never fall below `desired − maxUnavailable` by our own doing, and all
 * replicas together, those that are stopping included, never exceed `desired + maxSurge` by it.
 */
export interface Plan {
  /** Revisions of the replicas to start now. */
  readonly start: readonly number[];
  readonly dismiss: readonly { readonly job: JobId; readonly reason: string }[];
  /** Available replicas of the newest revision. */
  readonly updated: number;
  /** The rollout has reached its end: every replica is of the new revision and available. */
  readonly isDone: boolean;
}

const nothing: Plan = { start: [], dismiss: [], updated: 0, isDone: false };

export function planService(service: Service, nowMs: number): Plan {
  const all = [...service.replicas.values()];
  const active = all.filter((replica) => !replica.stopping);
  if (service.standing !== 'wanted') {
    const reason = service.standing === 'stopped' ? 'the service was stopped' : 'the service is complete';
    return { ...nothing, dismiss: active.map(({ job }) => ({ job, reason })) };
  }
  const wanted = Math.max(0, service.desired - service.completed);
  switch (service.rollout?.state) {
    case 'progressing':
      return planRollout(service, { all, active, wanted, nowMs });
    case 'paused':
    case 'failed':
      return planHalted(service, { all, active, wanted, nowMs });
    case undefined:
    case 'done':
    case 'rolled-back':
      return planSteady(service, { all, active, wanted, nowMs });
  }
}

interface Situation {
  readonly all: readonly Replica[];
  readonly active: readonly Replica[];
  readonly wanted: number;
  readonly nowMs: number;
}

/** One revision: start what lacks, dismiss what is too many: not-ready ones first, then the newest (X24). */
function planSteady(service: Service, { all, active, wanted, nowMs }: Situation): Plan {
  const { minReadyMs, maxSurge } = rolloutOf(service);
  const current = active.filter((replica) => replica.revision === service.revision);
  const updated = current.filter((replica) => isAvailable(replica, minReadyMs, nowMs)).length;
  const foreign = active.filter((replica) => replica.revision !== service.revision);
  const dismiss = [
    ...foreign.map(({ job }) => ({ job, reason: `its revision was rolled back to ${service.revision}` })),
    ...pickSurplus(current, current.length - wanted).map(({ job }) => ({
      job,
      reason: `scaled to ${service.desired}`,
    })),
  ];
  const room = wanted + maxSurge - all.length;
  const missing = isHeldBack(service, nowMs) ? 0 : Math.min(wanted - current.length, room);
  return { ...nothing, updated, dismiss, start: Array.from({ length: Math.max(0, missing) }, () => service.revision) };
}

function planRollout(service: Service, situation: Situation): Plan {
  const { all, active, wanted, nowMs } = situation;
  const { maxSurge, maxUnavailable, minReadyMs } = rolloutOf(service);
  const fresh = active.filter((replica) => replica.revision === service.revision);
  const old = active.filter((replica) => replica.revision !== service.revision);
  const updated = fresh.filter((replica) => isAvailable(replica, minReadyMs, nowMs)).length;
  const dismiss = [
    ...dismissOld(old, { wanted, maxUnavailable, updated }),
    ...pickSurplus(fresh, fresh.length - wanted).map(({ job }) => ({ job, reason: `scaled to ${service.desired}` })),
  ];
  const room = wanted + maxSurge - all.length;
  const missing = isHeldBack(service, nowMs) ? 0 : Math.min(wanted - fresh.length, room);
  const start = Array.from({ length: Math.max(0, missing) }, () => service.revision);
  const isDone = old.length === 0 && updated >= wanted && all.length === active.length;
  return { start, dismiss, updated, isDone };
}

/** Old replicas that the new ones have made superfluous. A ready one goes only for an available successor. */
function dismissOld(
  old: readonly Replica[],
  { wanted, maxUnavailable, updated }: { wanted: number; maxUnavailable: number; updated: number },
): readonly { job: JobId; reason: string }[] {
  const needed = Math.max(0, wanted - maxUnavailable - updated);
  const ready = old.filter((replica) => replica.readySinceMs !== null);
  const unready = old.filter((replica) => replica.readySinceMs === null);
  const keepReady = Math.min(ready.length, needed);
  const keepUnready = Math.max(0, needed - keepReady);
  const reason = 'replaced by the new revision';
  return [
    ...newestFirst(unready).slice(0, unready.length - keepUnready),
    ...newestFirst(ready).slice(0, ready.length - keepReady),
  ].map(({ job }) => ({ job, reason }));
}

/**
 * A rollout that was paused or failed: nothing of it moves on, and no replica is touched. A replica of the old revision
 * that ended by itself is replaced by one of its own revision, for it was what served.
 */
function planHalted(service: Service, { all, active, wanted, nowMs }: Situation): Plan {
  const { minReadyMs, maxSurge } = rolloutOf(service);
  const from = service.rollout?.from ?? service.revision;
  const fresh = active.filter((replica) => replica.revision === service.revision);
  const updated = fresh.filter((replica) => isAvailable(replica, minReadyMs, nowMs)).length;
  const surplus = active.length - wanted - maxSurge;
  if (surplus > 0) {
    const reason = `scaled to ${service.desired}`;
    return { ...nothing, updated, dismiss: pickSurplus(active, surplus).map(({ job }) => ({ job, reason })) };
  }
  // A first revision that failed has none before it: all that runs is of it.
  const serving = from === service.revision ? active.length : active.length - fresh.length + updated;
  const room = wanted + maxSurge - all.length;
  const missing = isHeldBack(service, nowMs) || !service.revisions.has(from) ? 0 : Math.min(wanted - serving, room);
  return { ...nothing, updated, start: Array.from({ length: Math.max(0, missing) }, () => from) };
}

/** Ready without a break for long enough: only that counts (C4). */
export function isAvailable(replica: Replica, minReadyMs: number, nowMs: number): boolean {
  return replica.readySinceMs !== null && nowMs - replica.readySinceMs >= minReadyMs;
}

function pickSurplus(replicas: readonly Replica[], count: number): readonly Replica[] {
  if (count <= 0) return [];
  const unready = replicas.filter((replica) => replica.readySinceMs === null);
  const ready = replicas.filter((replica) => replica.readySinceMs !== null);
  return [...newestFirst(unready), ...newestFirst(ready)].slice(0, count);
}

/** Replicas are kept in the order of their submission. */
function newestFirst(replicas: readonly Replica[]): readonly Replica[] {
  return [...replicas].reverse();
}

function isHeldBack(service: Service, nowMs: number): boolean {
  return service.backoff !== null && service.backoff.untilMs > nowMs;
}

function rolloutOf(service: Service): { maxSurge: number; maxUnavailable: number; minReadyMs: number } {
  const revision = service.revisions.get(service.revision);
  return revision?.settings.rollout ?? { maxSurge: 1, maxUnavailable: 0, minReadyMs: 0 };
}
