import { adoptHealth, type Health, type Probes } from '../../core/supervision/probe.ts';
import { secretsOfStart } from '../secrets/open-secrets.ts';
import type { TaskContext } from '../task-context.ts';
import { askProbe } from './ask-probe.ts';
import type { Readiness, Supervision } from './journal.ts';
import { listeningPorts } from './listening-ports.ts';
import { waitForPort } from './port-watch.ts';
import { type ProbeRunnerOptions, runProbes } from './probe-runner.ts';

export interface RunWatchOptions {
  readonly context: TaskContext;
  readonly probes: Probes;
  /** The task's own port; null when it has none. */
  readonly port: number | null;
  readonly env: Readonly<Record<string, string>>;
  /** The journal's present content. */
  readonly state: () => Supervision;
  /** Changes it; `keep` also writes it down. */
  readonly change: (change: Partial<Supervision>, keep: boolean) => void;
  /** Told once, when the run must be ended because it is not alive. */
  readonly onDead: () => void;
  readonly onFault: (error: unknown) => void;
}

/** Where the process listens instead is looked up at most so often: it costs a look at all processes. */
const listeningEveryMs = 10_000;

/** Follows the health of one run from its start (or its adoption) until the function that it returns is called. */
export function watchRun(options: RunWatchOptions): () => void {
  const { context, probes, port, state, change, onFault } = options;
  const { host, advertise, tell } = context;
  const closed = new AbortController();
  const startedMs = state().startedMs ?? host.clock.bootMs();

  const tellEndpoint = (): void => {
    if (port !== null) tell({ kind: 'EndpointOpened', endpoint: `${advertise}:${port}` });
  };
  const onHealth = followHealth(options, { startedMs, tellEndpoint });
  const runner = runProbes({
    host,
    probes,
    health: adoptHealth(state().health),
    startedMs,
    ask: askWith(options, { startedMs, signal: closed.signal }),
    onHealth,
    onFault,
  });

  const followPort = async (): Promise<void> => {
    if (port === null) return;
    if (!state().isOpen) {
      if (!(await waitForPort(host, port, closed.signal))) return;
      change({ isOpen: true }, true);
    }
    tellEndpoint();
    runner.portOpened();
  };
  followPort().catch(onFault);
  onHealth(adoptHealth(state().health));
  return () => {
    closed.abort('closed');
    runner.close();
  };
}

interface RunHooks {
  readonly startedMs: number;
  readonly tellEndpoint: () => void;
}

/** Notes each health of the run, and tells of it what is news. */
function followHealth(options: RunWatchOptions, { startedMs, tellEndpoint }: RunHooks): (health: Health) => void {
  const { context, probes, state, change, onDead } = options;
  const { host, tell } = context;
  let isDead = false;
  const repeat = repeatOnce(state().told, tell);
  return (health) => {
    const { health: last, readySinceMs, told } = state();
    const nowMs = host.clock.bootMs();
    const news = newsOf(health, told, nowMs - startedMs);
    const isVerdict = health.ready !== last.ready || health.started !== last.started || health.dead !== null;
    change(
      { health, readySinceMs: health.ready ? (readySinceMs ?? nowMs) : null, told: news ?? told },
      isVerdict || news !== null,
    );
    // Whoever hears that it is ready must know where: a rollout ends an old replica on that word.
    if (news?.ready === true && !state().isOpen && asksPort(probes)) {
      change({ isOpen: true }, true);
      tellEndpoint();
    }
    if (news !== null) tell({ kind: 'ReadinessChanged', ...news });
    repeat(health, news !== null);
    if (health.dead !== null && !isDead) {
      isDead = true;
      onDead();
    }
  };
}

/** Whether being ready proves that the port accepts connections. */
function asksPort({ startup, readiness }: Probes): boolean {
  return [startup, readiness].some((probe) => probe !== null && probe.ask.kind !== 'command');
}

/** Asks the run's probes; a wrong answer says where the run listens instead, where that may be news. */
function askWith(
  { context, port, env, state }: RunWatchOptions,
  { startedMs, signal }: { readonly startedMs: number; readonly signal: AbortSignal },
): ProbeRunnerOptions['ask'] {
  const { host, attempt } = context;
  const listening = rarely(
    () => host.clock.bootMs(),
    () => listeningPorts(host, { mark: attempt.mark, directory: attempt.directory, leader: null }),
  );
  let secrets: ReturnType<typeof secretsOfStart> | null = null;
  const subject = {
    host,
    port,
    env,
    secrets: () => (secrets ??= secretsOfStart(context)),
    workdir: attempt.workdir,
    mark: attempt.mark,
    signal,
  };
  return (kind, probe, isLast) => {
    const { isOpen, told } = state();
    const mayBeTold = told === null && host.clock.bootMs() - startedMs >= firstReasonMs;
    const mayLook = !isOpen && (mayBeTold || (isLast && kind !== 'readiness'));
    return askProbe({ ...subject, listening: mayLook ? listening : nowhere }, kind, probe);
  };
}

/**
 * Tells once more what an agent before told, as that may not have come through. That agent may also have died before it
 * wrote down what it told next: so that a run is not ready is only said again once it has given a wrong answer anew.
 */
function repeatOnce(told: Readiness | null, tell: TaskContext['tell']): (health: Health, isNews: boolean) => void {
  let untold = told;
  return (health, isNews) => {
    if (isNews) untold = null;
    if (untold === null || (!untold.ready && !isUnwell(health))) return;
    tell({ kind: 'ReadinessChanged', ...untold });
    untold = null;
  };
}

/** A wrong answer has come since the run is watched. */
function isUnwell({ startupFailures, readinessFailures, dead }: Health): boolean {
  return startupFailures > 0 || readinessFailures > 0 || dead !== null;
}

/** What started slowly is not worth a word; what is still not ready then, and why, is said once for each cause. */
const firstReasonMs = 5000;

/** What is to be reported; null when it says nothing new. A count of failures alone is nothing new (X6). */
export function newsOf(health: Health, told: Readiness | null, ageMs: number): Readiness | null {
  if (health.ready) return told?.ready === true ? null : { ready: true, reason: null };
  const news = { ready: false, reason: health.dead ?? health.reason };
  if (told?.ready === true) return news;
  if (health.dead !== null) return told?.reason === health.dead ? null : news;
  // A reason that an agent before noted may be out of date: it is said once a wrong answer has come anew.
  if (health.reason === null || ageMs < firstReasonMs || told !== null || !isUnwell(health)) return null;
  return news;
}

function nowhere(): Promise<readonly number[]> {
  return Promise.resolve([]);
}

/** Gives the last answer again until it is old. */
function rarely(nowMs: () => number, ask: () => Promise<readonly number[]>): () => Promise<readonly number[]> {
  let askedMs = Number.NEGATIVE_INFINITY;
  let answer: Promise<readonly number[]> = nowhere();
  return () => {
    if (nowMs() - askedMs < listeningEveryMs) return answer;
    askedMs = nowMs();
    answer = ask();
    return answer;
  };
}
