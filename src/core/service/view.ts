import type { JobView } from '../job/view.ts';
import { viewJob } from '../job/view.ts';
import { whyWaiting } from '../placement/waiting.ts';
import type { State } from '../state.ts';
import { stuckReason } from './follow.ts';
import type { RolloutState, Service, ServiceState } from './service.ts';

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
  const replicas = [...service.replicas.values()].flatMap((replica) => {
    const job = state.jobs.get(replica.job);
    if (job === undefined) return [];
    const waiting = whyWaiting(state, job, time.nowMs)?.message ?? null;
    const isReady = replica.readySinceMs !== null;
    const { revision, stopping } = replica;
    const reason = isReady ? null : (replica.reason ?? waiting);
    return [{ ...viewJob(state, job, time.nowMs), revision, ready: isReady, stopping, reason }];
  });
  const ready = replicas.filter((replica) => replica.ready && !replica.stopping).length;
  const revision = service.revisions.get(service.revision);
  const { name, project, owner, desired, rollout } = service;
  return {
    name,
    project,
    queue: 'default',
    owner,
    profile: revision?.profile ?? null,
    revision: service.revision,
    revisions: [...service.revisions.keys()].sort((a, b) => a - b),
    desired,
    running: replicas.filter((replica) => replica.state === 'RUNNING').length,
    ready,
    ...stateOf(state, service, { ready, nowMs: time.nowMs }),
    rollout: rollout === null ? null : viewRollout(service, time),
    replicas,
    endpoints: replicas.flatMap((replica) =>
      replica.ready && !replica.stopping
        ? replica.tasks.flatMap(({ endpoint }) =>
            endpoint === null ? [] : [{ replica: replica.replica ?? 0, endpoint }],
          )
        : [],
    ),
    events: service.events.map(({ atMs, message }) => ({ at: new Date(atMs).toISOString(), message })),
    spec: revision?.source ?? null,
  };
}

function stateOf(
  state: State,
  service: Service,
  { ready, nowMs }: { ready: number; nowMs: number },
): { state: ServiceState; reason: string | null } {
  const { standing, rollout, desired, completed } = service;
  if (standing === 'stopped') return { state: 'STOPPED', reason: null };
  if (standing === 'completed') return { state: 'COMPLETED', reason: null };
  if (rollout?.state === 'failed' && ready === 0) return { state: 'FAILED', reason: rollout.reason };
  if (rollout?.state === 'failed')
    return { state: 'RUNNING', reason: `rollout to revision ${rollout.to} failed: ${rollout.reason}` };
  if (rollout?.state === 'paused') return { state: 'UPDATING', reason: rollout.reason };
  if (rollout?.state === 'progressing') return { state: 'UPDATING', reason: stuckReason(state, service, nowMs) };
  if (ready >= desired - completed) return { state: 'RUNNING', reason: rollout?.reason ?? null };
  return { state: 'WAITING', reason: stuckReason(state, service, nowMs) };
}

function viewRollout(service: Service, { atMs, nowMs }: { atMs: number; nowMs: number }): RolloutView | null {
  const { rollout } = service;
  if (rollout === null) return null;
  const fresh = [...service.replicas.values()].filter(
    (one) => one.revision === rollout.to && one.readySinceMs !== null,
  );
  const { from, to, state, updated, deadlineAtMs, reason } = rollout;
  const deadlineAt = deadlineAtMs === null ? null : new Date(atMs + deadlineAtMs - nowMs).toISOString();
  return { from, to, state, updated, ready: fresh.length, deadlineAt, reason };
}
