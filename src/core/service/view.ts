import type { JobView } from '../job/view.ts';
import { viewJob } from '../job/view.ts';
import { whyWaiting } from '../placement/waiting.ts';
import type { State } from '../state.ts';
import { isAvailable, rolloutOf } from './plan.ts';
import { asNotReady, lostReason, stuckReason } from './reasons.ts';
import {
  openRollout,
  type Replica,
  type RolloutState,
  type Service,
  type ServiceState,
  wantedReplicas,
} from './service.ts';

/** A service as `--json`, the API and the SDK show it. */
export interface ServiceView {
  readonly name: string;
  readonly project: string;
  readonly queue: string;
  readonly owner: string;
  readonly profile: string | null;
  readonly revision: number;
  readonly revisions: readonly number[];
  readonly desired: number;
  /** Replicas that ended well and are not wanted again. */
  readonly completed: number;
  readonly running: number;
  readonly ready: number;
  readonly state: ServiceState;
  /** Why it is not simply RUNNING; null when it is. */
  readonly reason: string | null;
  readonly rollout: RolloutView | null;
  readonly replicas: readonly ReplicaView[];
  /** Of ready replicas only (X32). */
  readonly endpoints: readonly { readonly replica: number; readonly endpoint: string }[];
  readonly events: readonly { readonly at: string; readonly message: string }[];
  readonly spec: unknown;
}

export interface RolloutView {
  readonly from: number;
  readonly to: number;
  readonly state: RolloutState;
  readonly updated: number;
  readonly ready: number;
  readonly deadlineAt: string | null;
  readonly reason: string | null;
}

/** A replica is its job; beside it, which revision it runs and whether it is on its way out. */
export type ReplicaView = JobView & {
  readonly revision: number;
  readonly ready: boolean;
  readonly stopping: boolean;
  /** Why it is not ready; null when it is. */
  readonly reason: string | null;
};

/** `atMs` and `nowMs` are wall clock and log time at the same moment: deadlines are kept in the one and shown in the other. */
export function viewService(state: State, service: Service, time: { atMs: number; nowMs: number }): ServiceView {
  const replicas = [...service.replicas.values()].flatMap((replica) => viewReplica(state, replica, time.nowMs));
  const ready = countReady(service);
  const revision = service.revisions.get(service.revision);
  const { name, project, owner, desired, completed, events } = service;
  return {
    name,
    project,
    queue: 'default',
    owner,
    profile: revision?.profile ?? null,
    revision: service.revision,
    revisions: [...service.revisions.keys()].sort((a, b) => a - b),
    desired,
    completed,
    running: replicas.filter((replica) => replica.state === 'RUNNING').length,
    ready,
    ...stateOf(state, service, time.nowMs),
    rollout: viewRollout(service, time),
    replicas,
    endpoints: replicas.flatMap(endpointsOf),
    events: events.map(({ atMs, message }) => ({ at: new Date(atMs).toISOString(), message })),
    spec: revision?.source ?? null,
  };
}

function viewReplica(state: State, replica: Replica, nowMs: number): readonly ReplicaView[] {
  const job = state.jobs.get(replica.job);
  if (job === undefined) return [];
  const { revision } = replica;
  // One that ended on a lost node may be there still; nobody can wait for that.
  const stopping = replica.stopping && !replica.ended;
  const ready = replica.readySinceMs !== null;
  const told = replica.reason === null ? null : asNotReady(replica.reason);
  const reason = ready ? null : (whyWaiting(state, job, nowMs)?.message ?? told);
  return [{ ...viewJob(state, job, nowMs), revision, ready, stopping, reason }];
}

function endpointsOf(replica: ReplicaView): ServiceView['endpoints'] {
  if (!replica.ready || replica.stopping) return [];
  return replica.tasks.flatMap(({ endpoint }) =>
    endpoint === null ? [] : [{ replica: replica.replica ?? 0, endpoint }],
  );
}

function countReady(service: Service): number {
  return [...service.replicas.values()].filter((one) => one.readySinceMs !== null && !one.stopping).length;
}

/** The state that people see, and why it is not simply that everything wanted runs. */
export function stateOf(
  state: State,
  service: Service,
  nowMs: number,
): { readonly state: ServiceState; readonly reason: string | null } {
  const { standing, rollout, lost } = service;
  if (standing === 'stopped') return { state: 'STOPPED', reason: null };
  if (standing === 'completed') return { state: 'COMPLETED', reason: null };
  const ready = countReady(service);
  const isLost = lost > 0 && [...service.replicas.values()].every(({ ended }) => ended);
  if (rollout?.state === 'failed' && ready === 0 && wantedReplicas(service) > 0) {
    return { state: 'FAILED', reason: rollout.reason };
  }
  if (isLost) return { state: 'FAILED', reason: lostReason(service) };
  const isEnough = ready >= wantedReplicas(service) && lost === 0;
  if (rollout?.state === 'failed') {
    const failed = `rollout to revision ${rollout.to} failed: ${rollout.reason}`;
    return { state: isEnough ? 'RUNNING' : 'WAITING', reason: failed };
  }
  if (rollout?.state === 'paused') return { state: 'UPDATING', reason: rollout.reason };
  if (rollout?.state === 'progressing') return { state: 'UPDATING', reason: stuckReason(state, service, nowMs) };
  if (isEnough) return { state: 'RUNNING', reason: rollout?.reason ?? null };
  return { state: 'WAITING', reason: stuckReason(state, service, nowMs) };
}

/** While it is open, `updated` is what is available now; once it is over, how far it came. */
function viewRollout(service: Service, { atMs, nowMs }: { atMs: number; nowMs: number }): RolloutView | null {
  const { rollout } = service;
  if (rollout === null) return null;
  const { minReadyMs } = rolloutOf(service);
  const fresh = [...service.replicas.values()].filter((one) => one.revision === rollout.to && !one.stopping);
  const available = fresh.filter((one) => isAvailable(one, minReadyMs, nowMs)).length;
  const { from, to, state, deadlineAtMs, reason } = rollout;
  const updated = openRollout(service) === null ? rollout.updated : available;
  const ready = fresh.filter((one) => one.readySinceMs !== null).length;
  const deadlineAt = deadlineAtMs === null ? null : new Date(atMs + deadlineAtMs - nowMs).toISOString();
  return { from, to, state, updated, ready, deadlineAt, reason };
}
