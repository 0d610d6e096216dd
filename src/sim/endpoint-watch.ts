import { findTask, parseTaskKey } from '../core/job/job.ts';
import { viewService } from '../core/service/view.ts';
import type { State } from '../core/state.ts';
import type { Cluster } from './cluster.ts';
import { isRun, type TrueProcess } from './truth.ts';

/** Compares the endpoints that every service lists now with what really runs: live runs of current attempts. */
export function watchEndpoints({ world, truth, history }: Cluster, state: State, allowedMs: number): void {
  for (const service of state.services.values()) {
    const { endpoints } = viewService(state, service, { atMs: 0, nowMs: 0 });
    for (const { endpoint } of endpoints) {
      const runs = truth.processes.filter((one) => isBehind(one, { state, service: service.name, endpoint }));
      if (runs.some(({ endMs }) => endMs === null)) continue;
      const deadMs = world.nowMs - Math.max(-Infinity, ...runs.map(({ endMs }) => endMs ?? Infinity));
      if (deadMs > allowedMs) history.deadEndpoints.push({ service: service.name, endpoint, deadMs, allowedMs });
    }
  }
}

function isBehind(
  run: TrueProcess,
  { state, service, endpoint }: { state: State; service: string; endpoint: string },
): boolean {
  if (!isRun(run) || !endpoint.endsWith(`:${run.port}`)) return false;
  const key = parseTaskKey(run.attempt);
  const job = key === null ? undefined : state.jobs.get(key.job);
  return key !== null && job?.service?.name === service && findTask(job, key) !== null;
}
