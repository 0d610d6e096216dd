import type { JobSpec } from '../core/job/spec.ts';
import type { PartialSettings } from '../core/profile/settings.ts';
import type { ServiceCommand } from '../core/service/command.ts';
import type { GiveUpRule } from '../core/supervision/policy.ts';
import type { Probe } from '../core/supervision/probe.ts';
import { writeProgram } from './program.ts';
import type { Random } from './random.ts';
import type { Serving } from './serving.ts';
import { probeCommand } from './virtual-processes.ts';

/** Names of the services that people of one seed apply. */
export function drawServiceNames(random: Random): readonly string[] {
  return ['web', 'db', 'cache'].slice(0, random.pick([1, 1, 2, 3]));
}

/** Kept in the environment of its replicas, so that a checker knows what to expect of a revision. */
export const qualityKey = 'QUALITY';

/** What a revision of a service is like. Only of a `good` one it is certain that it becomes ready and stays so. */
export const qualities = {
  good: ({ between }) => steady(between(50, 900)),
  slow: ({ between }) => steady(between(5000, 25_000)),
  crashesFirst: ({ between }) => ({ ...steady(200), runsMs: [between(10, 3000), between(10, 3000), forever] }),
  crashLoops: ({ between }) => ({ ...steady(100), runsMs: [between(1, 1500)] }),
  diesLater: ({ between }) => ({ ...steady(300), runsMs: [between(4000, 90_000)] }),
  completes: ({ between }) => ({ ...steady(300), runsMs: [between(3000, 60_000)], exitCode: 0 }),
  neverOpens: () => ({ ...steady(0), opensMs: null }),
  elsewhere: () => ({ ...steady(100), elsewhere: true }),
  flaps: ({ between, pick }) => ({
    ...steady(300),
    cycle: [
      { forMs: between(2000, 20_000), answer: 'ok' },
      { forMs: between(1000, 20_000), answer: pick(['error', 'hang', 'closed'] as const) },
    ],
  }),
  hangs: ({ between }) => ({
    ...steady(300),
    cycle: [
      { forMs: between(2000, 30_000), answer: 'ok' },
      { forMs: forever, answer: 'hang' },
    ],
  }),
  missing: () => ({ ...steady(0), missing: true }),
  unplaceable: () => steady(100),
} as const satisfies Record<string, (random: Random) => Serving>;

export type Quality = keyof typeof qualities;

/** Longer than any seed. */
const forever = 1e10;

function steady(opensMs: number): Serving {
  const cycle = [{ forMs: forever, answer: 'ok' }] as const;
  return { runsMs: [forever], exitCode: 1, opensMs, elsewhere: false, cycle, missing: false };
}

/** Somebody's file for a service: most are good, and some are of every bad kind. */
export function drawApply(
  random: Random,
  service: string,
  owner: string,
): Extract<ServiceCommand, { kind: 'ApplyService' }> {
  const bad = Object.keys(qualities) as Quality[];
  const quality = random.happens(0.55) ? 'good' : random.pick(bad);
  const program = {
    lastsMs: 0,
    codes: [],
    dies: null,
    onTerm: random.pick(['die', 'die', 'leave', 'ignore'] as const),
    children: [],
    writes: [],
    stuckMs: random.happens(0.1) ? random.between(5000, 150_000) : 0,
    serves: qualities[quality](random),
  };
  const text = writeProgram(program);
  const spec: JobSpec = {
    name: service,
    run: quality === 'missing' || random.happens(0.5) ? text : ['a-program', text],
    setup: null,
    workspace: null,
    outputs: [],
    env: { [qualityKey]: quality },
    args: [],
  };
  const layers = [{ origin: 'sim', values: drawServiceSettings(random, quality) }];
  return {
    kind: 'ApplyService',
    spec,
    source: null,
    profile: null,
    layers,
    workspace: null,
    project: 'default',
    owner,
  };
}

function drawServiceSettings(random: Random, quality: Quality): PartialSettings {
  const { happens, pick } = random;
  const maxSurge = pick([0, 1, 1, 2]);
  const values: PartialSettings = {
    nodes: happens(0.1) ? 2 : 1,
    resources: { cpus: quality === 'unplaceable' ? 100 : pick([0.1, 0.25, 0.5, 1]) },
    graceMs: pick([0, 500, 3000]),
    retry: { maxAttempts: pick([1, 1, 3]) },
    onNodeLoss: pick(['replace', 'replace', 'wait', 'fail'] as const),
    spread: pick(['strict', 'prefer', 'none'] as const),
    restart: drawRestart(random),
    rollout: {
      maxSurge,
      maxUnavailable: maxSurge === 0 ? 1 : pick([0, 0, 1]),
      minReadyMs: pick([0, 1000, 5000]),
      progressDeadlineMs: pick([15_000, 40_000, 90_000]),
      onFailure: pick(['pause', 'rollback'] as const),
    },
    ...(happens(0.3) ? { startup: drawProbe(random, 5) } : {}),
    ...(happens(0.5) ? { liveness: drawProbe(random, 3) } : {}),
    ...(happens(0.6) ? { readiness: drawProbe(random, pick([1, 3])) } : {}),
  };
  return happens(0.8) ? { ...values, replicas: 1 + random.below(4) } : values;
}

function drawRestart({ happens, pick, below }: Random): NonNullable<PartialSettings['restart']> {
  const rules: readonly (GiveUpRule | null)[] = [
    null,
    null,
    { kind: 'failures', failures: 2 + below(4) },
    { kind: 'restarts', restarts: 2 + below(3), windowMs: 60_000 },
  ];
  const giveUp = pick(rules);
  // Without a delay and without an end a crash loop would fill the log, as whoever writes that must expect.
  const initialMs = giveUp === null ? pick([200, 1000]) : pick([0, 200, 1000]);
  return {
    policy: pick(['always', 'always', 'on-failure', 'never'] as const),
    backoff: { initialMs, maxMs: pick([1000, 5000, 30_000]) },
    maxRestarts: happens(0.2) ? 1 + below(4) : null,
    giveUp,
    onGiveUp: pick(['end', 'requeue'] as const),
  };
}

function drawProbe({ pick }: Random, failures: number): Probe {
  const ask = pick([
    { kind: 'http', path: '/health' },
    { kind: 'tcp' },
    { kind: 'command', command: probeCommand },
  ] as const);
  const timeoutMs = pick([500, 2000]);
  return { ask, intervalMs: pick([1000, 3000]), timeoutMs, failures, successes: 1, initialDelayMs: pick([0, 1000]) };
}
