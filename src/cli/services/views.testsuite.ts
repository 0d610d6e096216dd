import type { ReplicaView, RolloutView, ServiceView } from '../../core/service/view.ts';
import { jobView, taskView } from '../follow/views.testsuite.ts';

/** When everything below is looked at. */
export const nowMs = Date.parse('2026-01-04T00:00:00.000Z');

/** A service as it is seen, for tests of what is said about it. */
export function serviceView(more: Partial<ServiceView> = {}): ServiceView {
  return {
    name: 'llm',
    project: 'default',
    queue: 'default',
    owner: 'ada',
    profile: null,
    revision: 5,
    revisions: [4, 5],
    desired: 2,
    completed: 0,
    running: 2,
    ready: 2,
    state: 'RUNNING',
    reason: null,
    rollout: null,
    replicas: [],
    endpoints: [],
    events: [],
    spec: {},
    ...more,
  };
}

export function rolloutView(more: Partial<RolloutView> = {}): RolloutView {
  const deadlineAt = '2026-01-04T00:09:12.000Z';
  return { from: 4, to: 5, state: 'progressing', updated: 1, ready: 1, deadlineAt, reason: null, ...more };
}

/** `upMs`: how long ago it was started. */
export function replicaView(
  id: string,
  {
    upMs = 14_000,
    task = {},
    ...more
  }: Partial<ReplicaView> & { upMs?: number; task?: Parameters<typeof taskView>[0] },
): ReplicaView {
  const view = jobView({
    id,
    name: 'llm',
    service: 'llm',
    replica: 0,
    state: 'RUNNING',
    attempt: 1,
    startedAt: new Date(nowMs - upMs).toISOString(),
    tasks: [taskView(task)],
  });
  return { ...view, revision: 5, ready: false, stopping: false, reason: null, ...more };
}

/** The one of the interface: an old replica that serves, one that goes, a new one that serves and one that comes. */
export const updating = serviceView({
  state: 'UPDATING',
  rollout: rolloutView(),
  replicas: [
    replicaView('llm-c81d0m', { revision: 4, ready: true, upMs: 3 * 86_400_000 }),
    replicaView('llm-0ppq2e', { revision: 4, stopping: true }),
    replicaView('llm-9v3kzt', { ready: true }),
    replicaView('llm-4tq8ws', { reason: 'startup 3 of 60, port 41873 refused' }),
  ],
});
