import {
  dueProbes,
  type Health,
  type Probe,
  type ProbeKind,
  type Probes,
  takeAnswer,
} from '../../core/supervision/probe.ts';
import { sleep } from '../../host/clock.ts';
import type { Host } from '../../host/host.ts';
import type { Answer } from './ask-probe.ts';

export interface ProbeRunnerOptions {
  readonly host: Pick<Host, 'clock' | 'timers'>;
  readonly probes: Probes;
  /** Where the run stands: fresh, or what an earlier agent knew of it. */
  readonly health: Health;
  /** Boot time at which the run began. */
  readonly startedMs: number;
  /** `isLast`: one more wrong answer in a row is one too many. */
  readonly ask: (kind: ProbeKind, probe: Probe, isLast: boolean) => Promise<Answer>;
  /** Told of every answer that was taken, whatever it changed. */
  readonly onHealth: (health: Health) => void;
  /** Told of a bug. */
  readonly onFault: (error: unknown) => void;
}

export interface ProbeRunner {
  /** The run's port accepts connections from now on: whoever asks it need not wait for its turn. */
  portOpened(): void;
  /** Ends it; answers that are still to come change nothing. */
  close(): void;
}

/** After this many intervals the agent itself was standing still, and the answer says nothing about the task. */
const stallIntervals = 2;

/**
 * Asks the probes of one run, each one question at a time, on boot time. The startup probe gates the others, whose
 * initial delay counts from its success; without it, from the start of the process.
 */
export function runProbes(options: ProbeRunnerOptions): ProbeRunner {
  const { host, probes, ask, onHealth, onFault } = options;
  const closed = new AbortController();
  const naps = new Set<() => void>();
  const running = new Set<ProbeKind>();
  let health = options.health;
  let isOpen = false;

  const begin = (sinceMs: number): void => {
    for (const kind of dueProbes(health, probes)) {
      if (running.has(kind)) continue;
      running.add(kind);
      const probe = probes[kind];
      if (probe !== null) repeat(kind, probe, sinceMs + probe.initialDelayMs).catch(onFault);
    }
  };

  const repeat = async (kind: ProbeKind, probe: Probe, firstMs: number): Promise<void> => {
    const asksPort = kind !== 'liveness' && probe.ask.kind !== 'command';
    let dueMs = Math.max(firstMs, host.clock.bootMs());
    for (;;) {
      await waitUntil(dueMs, asksPort && host.clock.bootMs() >= firstMs);
      if (closed.signal.aborted || !dueProbes(health, probes).includes(kind)) return;
      const askedMs = Math.min(dueMs, host.clock.bootMs());
      const wasOpen = isOpen;
      const answer = await ask(kind, probe, failuresOf(health, kind) + 1 >= probe.failures);
      if (closed.signal.aborted) return;
      const nowMs = host.clock.bootMs();
      const stoodStill = nowMs - askedMs > probe.timeoutMs + stallIntervals * probe.intervalMs;
      if (!stoodStill) take({ kind, run: health.run, ...answer });
      // What stood still along with the agent gets an interval to recover.
      const nextMs = stoodStill ? nowMs + probe.intervalMs : Math.max(askedMs + probe.intervalMs, nowMs);
      dueMs = asksPort && isOpen && !wasOpen ? nowMs : nextMs;
    }
  };

  const take = (answer: Parameters<typeof takeAnswer>[2]): void => {
    const before = health;
    health = takeAnswer(health, probes, answer);
    if (health === before) return;
    onHealth(health);
    if (health.started && !before.started) begin(host.clock.bootMs());
  };

  /** Until a boot time, whatever timers make of a suspend; cut short when the port opens, where that matters. */
  const waitUntil = async (dueMs: number, hurries: boolean): Promise<void> => {
    const nap = new AbortController();
    const wake = (): void => nap.abort('woken');
    closed.signal.addEventListener('abort', wake, { once: true });
    if (hurries) naps.add(wake);
    for (;;) {
      const leftMs = dueMs - host.clock.bootMs();
      if (leftMs <= 0 || nap.signal.aborted) break;
      await sleep(host.timers, leftMs, nap.signal);
    }
    naps.delete(wake);
    closed.signal.removeEventListener('abort', wake);
  };

  begin(options.startedMs);
  return {
    portOpened: () => {
      isOpen = true;
      for (const wake of naps) wake();
    },
    close: () => closed.abort('closed'),
  };
}

function failuresOf(health: Health, kind: ProbeKind): number {
  switch (kind) {
    case 'startup':
      return health.startupFailures;
    case 'liveness':
      return health.livenessFailures;
    case 'readiness':
      return health.readinessFailures;
  }
}
