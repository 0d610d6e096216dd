import type { JobView, TaskView } from '../../core/job/view.ts';
import { builtInSettings } from '../../core/profile/settings.ts';

/** A job as it is seen, for tests of what is said about it. */
export function jobView(more: Partial<JobView> = {}): JobView {
  return {
    id: 'digits-k3f9q2',
    name: 'digits',
    kind: 'job',
    project: 'default',
    queue: 'default',
    owner: 'ada',
    profile: null,
    service: null,
    replica: null,
    retryOf: null,
    state: 'PENDING',
    waiting: null,
    outcome: null,
    attempt: 0,
    submittedAt: '2026-01-01T00:00:00.000Z',
    startedAt: null,
    endedAt: null,
    spec: {},
    settings: builtInSettings,
    origins: {},
    array: null,
    tasks: [],
    outputs: [],
    ...more,
  };
}

export function taskView(more: Partial<TaskView> = {}): TaskView {
  return {
    index: null,
    rank: 0,
    node: 'laptop',
    attempt: 1,
    step: 'run',
    devices: [],
    endpoint: null,
    ready: null,
    notReady: null,
    restarts: 0,
    lastFailure: null,
    exitCode: null,
    signal: null,
    outcome: null,
    ...more,
  };
}
