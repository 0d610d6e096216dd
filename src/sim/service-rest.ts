import { whyWaiting } from '../core/placement/waiting.ts';
import type { WaitReason } from '../core/reason.ts';
import { type Replica, type Service, wantedReplicas } from '../core/service/service.ts';
import { stateOf } from '../core/service/view.ts';
import type { State } from '../core/state.ts';
import { qualityKey } from './service-workload.ts';

/** Reasons to wait that no healing of the world takes away, as services keep what they have. */
const lastingReasons: ReadonlySet<WaitReason> = new Set(['no-fit', 'too-few-nodes', 'spread', 'busy']);

/**
 * What keeps services from standing as they should once nothing goes wrong any more: healthy ones run with all their
 * replicas, whatever was asked of them before; any other says why it does not. Empty when nothing does.
 */
export function unsettledServices(state: State, nowMs: number): readonly string[] {
  return [...state.services.values()].flatMap((service) => {
    const problem = unsettled(state, service, nowMs);
    return problem === null ? [] : [`${service.name}: ${problem}`];
  });
}

function unsettled(state: State, service: Service, nowMs: number): string | null {
  const { rollout, standing, replicas } = service;
  const { state: shown, reason } = stateOf(state, service, nowMs);
  if (standing !== 'wanted') return replicas.size === 0 ? null : `${shown}, with ${replicas.size} replicas left`;
  if (rollout?.state === 'progressing') return `its rollout to ${rollout.to} goes on (${reason ?? 'no reason'})`;
  const mute = [...replicas.values()].find((replica) => isMute(state, service, replica));
  if (mute !== undefined) return `${mute.job} runs and is not said to be ready (${mute.reason ?? 'no reason'})`;
  if (shown !== 'RUNNING' && (reason === null || reason === '')) return `${shown} without a reason`;
  if (rollout?.state === 'paused' || rollout?.state === 'failed') return null;
  if (!isHealthy(service)) return null;
  return lacking(state, service, nowMs);
}

/** It runs a healthy revision, whatever has become of its rollout, and it is not ready. */
function isMute(state: State, service: Service, { job, revision, stopping, readySinceMs }: Replica): boolean {
  if (stopping || readySinceMs !== null || !isGood(service, revision)) return false;
  const element = state.jobs.get(job)?.elements.get(0);
  return element?.kind === 'live' && element.tasks.some(({ started }) => started);
}

/** Of a healthy revision that nothing holds back all replicas must be there and ready, and none of any other. */
function lacking(state: State, service: Service, nowMs: number): string | null {
  const { replicas, revision } = service;
  const all = [...replicas.values()];
  if (all.some((replica) => waitsForGood(state, replica, nowMs))) return null;
  const others = all.filter((replica) => replica.revision !== revision);
  if (others.length > 0) return `${others.length} replicas of another revision than ${revision} are left`;
  const ready = all.filter(({ readySinceMs }) => readySinceMs !== null).length;
  const wanted = wantedReplicas(service);
  if (ready === wanted && all.length === wanted) return null;
  const { state: shown, reason } = stateOf(state, service, nowMs);
  return `${shown}, ${ready} of ${wanted} ready, ${all.length} replicas (${reason ?? 'no reason'})`;
}

function waitsForGood(state: State, replica: Replica, nowMs: number): boolean {
  const job = state.jobs.get(replica.job);
  const waiting = job === undefined ? null : whyWaiting(state, job, nowMs);
  return waiting !== null && lastingReasons.has(waiting.reason);
}

/** The command of its revision stays up and ready. */
export function isHealthy(service: Service): boolean {
  return isGood(service, service.revision);
}

function isGood({ revisions }: Service, revision: number): boolean {
  return revisions.get(revision)?.spec.env[qualityKey] === 'good';
}

/** Nothing about the service can change by itself: it is healthy, complete, and no rollout of it is under way. */
export function isQuiet(state: State, service: Service, nowMs: number): boolean {
  if (service.standing !== 'wanted') return true;
  const isOver =
    service.rollout === null || service.rollout.state === 'done' || service.rollout.state === 'rolled-back';
  // A replica that waits for a node gets it when one of another revision goes, and that goes by itself.
  const isWhole = [...service.replicas.values()].every(
    (one) => one.revision === service.revision && !one.stopping && !waitsForGood(state, one, nowMs),
  );
  return isOver && isWhole && isHealthy(service) && service.failures === 0 && lacking(state, service, nowMs) === null;
}
