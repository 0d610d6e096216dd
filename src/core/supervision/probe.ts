import { type Refusal, refuse } from '../refusal.ts';

/** A question asked of a process again and again. Only its own port is ever asked (R4.32). */
export interface Probe {
  readonly ask:
    | { readonly kind: 'http'; readonly path: string }
    | { readonly kind: 'tcp' }
    | { readonly kind: 'command'; readonly command: string | readonly string[] };
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** Wrong answers in a row until it counts. */
  readonly failures: number;
  /** Right answers in a row until it counts; 1 for startup and liveness. */
  readonly successes: number;
  /** From the start of the run, or from the startup probe's success, to the first question. */
  readonly initialDelayMs: number;
}

export interface Probes {
  readonly startup: Probe | null;
  readonly liveness: Probe | null;
  readonly readiness: Probe | null;
}

export const probeDefaults = {
  intervalMs: 10_000,
  timeoutMs: 2000,
  failures: 3,
  successes: 1,
  initialDelayMs: 0,
} as const;

export type ProbeKind = keyof Probes;

/** Where one run stands. Every run starts anew: nothing is inherited from the one before (C5). */
export interface Health {
  /** The run that it is about; answers of another run are dropped. */
  readonly run: number;
  readonly started: boolean;
  readonly ready: boolean;
  /** Set once the run must be ended because it is not alive. */
  readonly dead: string | null;
  readonly startupFailures: number;
  readonly livenessFailures: number;
  readonly readinessFailures: number;
  readonly readinessSuccesses: number;
  /** Why it is not ready; null when it is, or when nothing is known yet. */
  readonly reason: string | null;
}

/** A run that has just begun. Without a startup probe it counts as started; without readiness as ready once started. */
export function freshHealth(run: number, probes: Probes): Health {
  const started = probes.startup === null;
  return {
    run,
    started,
    ready: started && probes.readiness === null,
    dead: null,
    startupFailures: 0,
    livenessFailures: 0,
    readinessFailures: 0,
    readinessSuccesses: 0,
    reason: null,
  };
}

/** Which questions are asked of it now: the startup probe gates both others. */
export function dueProbes(health: Health, probes: Probes): readonly ProbeKind[] {
  if (health.dead !== null) return [];
  if (!health.started) return ['startup'];
  return (['liveness', 'readiness'] as const).filter((kind) => probes[kind] !== null);
}

/** An answer, and of which run. */
export interface ProbeAnswer {
  readonly kind: ProbeKind;
  readonly run: number;
  readonly ok: boolean;
  /** What was seen, for people: `port 41873 refused`, `503`. */
  readonly detail: string;
}

/** What an answer changes. Late answers of another run, and any after the run was given up, change nothing. */
export function takeAnswer(health: Health, probes: Probes, answer: ProbeAnswer): Health {
  const probe = probes[answer.kind];
  if (answer.run !== health.run || health.dead !== null || probe === null) return health;
  if (!health.started && answer.kind !== 'startup') return health;
  switch (answer.kind) {
    case 'startup':
      return takeStartup(health, probes, probe, answer);
    case 'liveness':
      return takeLiveness(health, probe, answer);
    case 'readiness':
      return takeReadiness(health, probe, answer);
  }
}

function takeStartup(health: Health, probes: Probes, probe: Probe, { ok, detail }: ProbeAnswer): Health {
  if (health.started) return health;
  if (ok) return { ...health, started: true, ready: probes.readiness === null, startupFailures: 0, reason: null };
  const startupFailures = health.startupFailures + 1;
  const reason = `startup ${startupFailures} of ${probe.failures}, ${detail}`;
  return { ...health, startupFailures, reason, dead: startupFailures >= probe.failures ? reason : null };
}

function takeLiveness(health: Health, probe: Probe, { ok, detail }: ProbeAnswer): Health {
  if (ok) return { ...health, livenessFailures: 0 };
  const livenessFailures = health.livenessFailures + 1;
  if (livenessFailures < probe.failures) return { ...health, livenessFailures };
  const dead = `liveness failed ${livenessFailures} ${livenessFailures === 1 ? 'time' : 'times'}: ${detail}`;
  return { ...health, livenessFailures, ready: false, reason: dead, dead };
}

function takeReadiness(health: Health, probe: Probe, { ok, detail }: ProbeAnswer): Health {
  if (ok) {
    const readinessSuccesses = health.readinessSuccesses + 1;
    const ready = health.ready || readinessSuccesses >= probe.successes;
    return { ...health, ready, readinessSuccesses, readinessFailures: 0, reason: ready ? null : health.reason };
  }
  const readinessFailures = health.readinessFailures + 1;
  const ready = health.ready && readinessFailures < probe.failures;
  const reason = ready ? health.reason : `not ready: ${detail}`;
  return { ...health, ready, readinessFailures, readinessSuccesses: 0, reason };
}

/** What stands after an agent restart: the last verdict, until enough fresh answers say otherwise. */
export function adoptHealth(health: Health): Health {
  return { ...health, startupFailures: 0, livenessFailures: 0, readinessFailures: 0, readinessSuccesses: 0 };
}

/** What is wrong with the probes as they are written; null when nothing is. */
export function checkProbes(probes: Probes): Refusal | null {
  for (const kind of ['startup', 'liveness', 'readiness'] as const) {
    const probe = probes[kind];
    const wrong = probe === null ? null : checkProbe(probe, kind);
    if (wrong !== null) return wrong;
  }
  return null;
}

function checkProbe(probe: Probe, kind: ProbeKind): Refusal | null {
  const path = `profile.${kind}`;
  if (probe.ask.kind === 'http' && !probe.ask.path.startsWith('/')) {
    const shown = JSON.stringify(probe.ask.path);
    return refuse('BAD_VALUE', `${kind}.http is ${shown}; expected a path that starts with "/"`, { path });
  }
  for (const { key, of, least, unit } of limits) {
    const value = of(probe);
    if (Number.isSafeInteger(value) && value >= least) continue;
    return refuse('RANGE', `${kind}.${key} is ${value}${unit}; expected at least ${least}${unit}`, { path });
  }
  if (kind === 'readiness' || probe.successes === 1) return null;
  return refuse('RANGE', `${kind}.successes is ${probe.successes}; it can only be 1`, { path });
}

const limits: readonly { key: string; of: (probe: Probe) => number; least: number; unit: string }[] = [
  { key: 'interval', of: ({ intervalMs }) => intervalMs, least: 100, unit: ' ms' },
  { key: 'timeout', of: ({ timeoutMs }) => timeoutMs, least: 10, unit: ' ms' },
  { key: 'initialDelay', of: ({ initialDelayMs }) => initialDelayMs, least: 0, unit: ' ms' },
  { key: 'failures', of: ({ failures }) => failures, least: 1, unit: '' },
  { key: 'successes', of: ({ successes }) => successes, least: 1, unit: '' },
];
