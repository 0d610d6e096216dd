import * as z from 'zod';
import type { PartialSettings, RolloutSettings } from '../core/profile/settings.ts';
import { defaultRestart, type GiveUpRule, type RestartPolicy } from '../core/supervision/policy.ts';
import { type Probe, probeDefaults } from '../core/supervision/probe.ts';
import { dropAbsent } from './absent.ts';
import { script } from './job-table.ts';
import { duration, oneOf, text, wholeNumber } from './leaves.ts';

/** The keys of `[profile]` that work which stays up is supervised by, as they are written in a file. */

const mostTimes = 1_000_000;
const mostReplicas = 64;

const backoff = z.strictObject(
  { initial: duration.optional(), max: duration.optional() },
  { error: 'a table such as { initial = "1s", max = "30s" }' },
);

const giveUpWords = '{ failures = 10 }, or { restarts = 5, window = "10m" }';

const giveUp = z
  .strictObject(
    {
      failures: wholeNumber(1, mostTimes).optional(),
      restarts: wholeNumber(1, mostTimes).optional(),
      window: duration.optional(),
    },
    { error: giveUpWords },
  )
  .check(({ value, issues }) => {
    const byFailures = value.failures !== undefined && value.restarts === undefined && value.window === undefined;
    const byRestarts = value.failures === undefined && value.restarts !== undefined && value.window !== undefined;
    if (!byFailures && !byRestarts) issues.push({ code: 'custom', input: value, message: giveUpWords });
  });

const restart = z.strictObject(
  {
    policy: oneOf(['always', 'on-failure', 'never']).optional(),
    backoff: backoff.optional(),
    maxRestarts: wholeNumber(0, mostTimes).optional(),
    giveUp: giveUp.optional(),
    // biome-ignore lint/suspicious/noThenProperty: the key of the file; the table is never awaited.
    then: oneOf(['end', 'requeue']).optional(),
  },
  { error: 'a table such as { policy = "always" }' },
);

const probeWords = 'a table with one of http = "/path", tcp = true or command = "…"';

const probe = z
  .strictObject(
    {
      http: text.optional(),
      tcp: z.literal(true, { error: 'true: it asks the port of the task' }).optional(),
      command: script.optional(),
      interval: duration.optional(),
      timeout: duration.optional(),
      failures: wholeNumber(1, mostTimes).optional(),
      successes: wholeNumber(1, mostTimes).optional(),
      initialDelay: duration.optional(),
    },
    { error: probeWords },
  )
  .check(({ value, issues }) => {
    const asked = [value.http, value.tcp, value.command].filter((one) => one !== undefined);
    if (asked.length !== 1) issues.push({ code: 'custom', input: value, message: probeWords });
  });

const rollout = z.strictObject(
  {
    maxUnavailable: wholeNumber(0, mostReplicas).optional(),
    maxSurge: wholeNumber(0, mostReplicas).optional(),
    minReady: duration.optional(),
    progressDeadline: duration.optional(),
    onFailure: oneOf(['pause', 'rollback']).optional(),
  },
  { error: 'a table such as { maxSurge = 1 }' },
);

/** What `[profile]` has beside the keys of every job. */
export const supervisionShape = {
  replicas: wholeNumber(0, mostReplicas).optional(),
  spread: oneOf(['strict', 'prefer', 'none']).optional(),
  restart: restart.optional(),
  startup: probe.optional(),
  liveness: probe.optional(),
  readiness: probe.optional(),
  rollout: rollout.optional(),
};

/** Which keys there are at each place of `[profile]`. */
export const supervisionKeys: Readonly<Record<string, readonly string[]>> = {
  restart: Object.keys(restart.shape),
  'restart.backoff': Object.keys(backoff.shape),
  'restart.giveUp': Object.keys(giveUp.shape),
  startup: Object.keys(probe.shape),
  liveness: Object.keys(probe.shape),
  readiness: Object.keys(probe.shape),
  rollout: Object.keys(rollout.shape),
};

type SupervisionTable = z.output<z.ZodObject<typeof supervisionShape>>;

/** The settings of what passed the schema; only what it gives. */
export function toSupervision(table: SupervisionTable): PartialSettings {
  return dropAbsent({
    replicas: table.replicas,
    spread: table.spread,
    restart: table.restart && toRestart(table.restart),
    startup: table.startup && toProbe(table.startup),
    liveness: table.liveness && toProbe(table.liveness),
    readiness: table.readiness && toProbe(table.readiness),
    rollout: table.rollout && toRollout(table.rollout),
  });
}

function toRestart(table: NonNullable<SupervisionTable['restart']>): Partial<RestartPolicy> {
  return dropAbsent({
    policy: table.policy,
    backoff: table.backoff && toBackoff(table.backoff),
    maxRestarts: table.maxRestarts,
    giveUp: table.giveUp && toGiveUp(table.giveUp),
    onGiveUp: table.then,
  });
}

/** Of the two, the one that is absent is as built in, unless the one that is written leaves no room for it. */
function toBackoff({ initial, max }: z.output<typeof backoff>): RestartPolicy['backoff'] {
  const { initialMs, maxMs } = defaultRestart.backoff;
  return {
    initialMs: initial ?? Math.min(initialMs, max ?? initialMs),
    maxMs: max ?? Math.max(maxMs, initial ?? maxMs),
  };
}

function toGiveUp({ failures, restarts = 0, window = 0 }: z.output<typeof giveUp>): GiveUpRule {
  return failures === undefined ? { kind: 'restarts', restarts, windowMs: window } : { kind: 'failures', failures };
}

function toProbe(table: z.output<typeof probe>): Probe {
  const { intervalMs, timeoutMs, failures, successes, initialDelayMs } = probeDefaults;
  return {
    ask: askOf(table),
    intervalMs: table.interval ?? intervalMs,
    timeoutMs: table.timeout ?? timeoutMs,
    failures: table.failures ?? failures,
    successes: table.successes ?? successes,
    initialDelayMs: table.initialDelay ?? initialDelayMs,
  };
}

function askOf({ http, command }: z.output<typeof probe>): Probe['ask'] {
  if (http !== undefined) return { kind: 'http', path: http };
  return command === undefined ? { kind: 'tcp' } : { kind: 'command', command };
}

function toRollout(table: NonNullable<SupervisionTable['rollout']>): Partial<RolloutSettings> {
  const { maxUnavailable, maxSurge, minReady, progressDeadline, onFailure } = table;
  return dropAbsent({
    maxUnavailable,
    maxSurge,
    minReadyMs: minReady,
    progressDeadlineMs: progressDeadline,
    onFailure,
  });
}
