import { findTask, parseTaskKey } from '../core/job/job.ts';
import { viewService } from '../core/service/view.ts';
import type { State } from '../core/state.ts';
import type { Cluster } from './cluster.ts';
import { wasIll } from './serving.ts';
import { isRun, type TrueProcess } from './truth.ts';

/** Compares the endpoints that every service lists now with what really runs: live runs of current attempts. */
export function watchEndpoints({ world, truth, history }: Cluster, state: State, allowedMs: number): void {
  for (const { service, endpoint } of listedEndpoints(state, truth.logSeq())) {
    const what = { state, service, endpoint };
    const runs = truth.processes.filter((one) => isRun(one) && isBehind(one, what));
    // A process that was forked and gets no time yet is live, too, and a neighbour may answer on its port meanwhile.
    const launches = truth.launches.filter((one) => one.label === 'run' && isBehind(one, what));
    const times = [...runs.map((run) => lastUsedMs(run, state, world.nowMs)), ...launches.map(({ atMs }) => atMs)];
    const deadMs = world.nowMs - Math.max(-Infinity, ...times);
    if (deadMs > allowedMs) history.deadEndpoints.push({ service, endpoint, deadMs, allowedMs });
  }
}

interface Listed {
  readonly service: string;
  readonly endpoint: string;
}

/** What a state listed, and how many facts the log held then: as long as it holds no more, it lists the same. */
const listedBefore = new WeakMap<State, { readonly seq: number; readonly endpoints: readonly Listed[] }>();

function listedEndpoints(state: State, seq: number): readonly Listed[] {
  const before = listedBefore.get(state);
  if (before?.seq === seq) return before.endpoints;
  const endpoints = [...state.services.values()].flatMap((service) =>
    viewService(state, service, { atMs: 0, nowMs: 0 }).endpoints.map(({ endpoint }) => {
      return { service: service.name, endpoint };
    }),
  );
  listedBefore.set(state, { seq, endpoints });
  return endpoints;
}

function isBehind(
  { attempt, port }: Pick<TrueProcess, 'attempt' | 'port'>,
  { state, service, endpoint }: { state: State; service: string; endpoint: string },
): boolean {
  if (!endpoint.endsWith(`:${port}`)) return false;
  const key = parseTaskKey(attempt);
  const job = key === null ? undefined : state.jobs.get(key.job);
  return key !== null && job?.service?.name === service && findTask(job, key)?.element.stopAsked === false;
}

/** When it was last there for anybody: until its end, or until it ceased to answer and its probe must have seen that. */
function lastUsedMs({ attempt, serves, startMs, endMs }: TrueProcess, state: State, nowMs: number): number {
  if (endMs !== null) return endMs;
  const readiness = state.jobs.get(parseTaskKey(attempt)?.job ?? '')?.settings.readiness ?? null;
  // One that hangs accepts connections, which is all that some probes ask.
  if (serves === null || readiness === null || readiness.ask.kind === 'tcp') return nowMs;
  const ageMs = nowMs - startMs;
  return wasIll(serves, ageMs - slowestVerdictMs, ageMs) ? nowMs - slowestVerdictMs : nowMs;
}

/** Three wrong answers in a row, each as late as the profiles of the simulator allow, and some more. */
const slowestVerdictMs = 25_000;
