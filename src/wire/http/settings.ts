import * as z from 'zod';
import type { EnvValue, JobSpec, Script, WorkspaceRef, WorkspaceSpec } from '../../core/job/spec.ts';
import type { Needs, PartialSettings, RolloutSettings, Settings } from '../../core/profile/settings.ts';
import type { GiveUpRule, RestartPolicy } from '../../core/supervision/policy.ts';
import type { Probe } from '../../core/supervision/probe.ts';

/** What a job is and how it runs, in the base units of the core, as it travels between Runyard's own programs. */

const count = z.int().min(0);
const text = z.string();

export const script = z.union([text, z.array(text)]) satisfies z.ZodType<Script>;

const envValue = z.union([
  text,
  z.strictObject({ secret: text, file: z.exactOptional(z.boolean()) }),
]) satisfies z.ZodType<EnvValue>;

const workspaceSpec = z.strictObject({ workdir: text, exclude: z.array(text) }) satisfies z.ZodType<WorkspaceSpec>;

export const jobSpec = z.strictObject({
  name: text,
  run: script,
  setup: script.nullable(),
  workspace: workspaceSpec.nullable(),
  outputs: z.array(text),
  env: z.record(text, envValue),
  args: z.array(text),
}) satisfies z.ZodType<JobSpec>;

export const workspaceRef = z.strictObject({
  manifest: z.string().regex(/^[0-9a-f]{64}$/),
  files: count,
  sizeBytes: count,
}) satisfies z.ZodType<WorkspaceRef>;

const needs = z.strictObject({
  gpus: z.union([count, z.literal('all')]),
  gpuType: text.nullable(),
  gpuMemoryMiB: count.nullable(),
  cpus: z.number().min(0),
  memoryMiB: count.nullable(),
  diskMiB: count.nullable(),
  labels: z.record(text, text),
}) satisfies z.ZodType<Needs>;

const giveUp = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('failures'), failures: count }),
  z.strictObject({ kind: z.literal('restarts'), restarts: count, windowMs: count }),
]) satisfies z.ZodType<GiveUpRule>;

const restart = z.strictObject({
  policy: z.enum(['always', 'on-failure', 'never']),
  backoff: z.strictObject({ initialMs: count, maxMs: count }),
  maxRestarts: count.nullable(),
  giveUp: giveUp.nullable(),
  onGiveUp: z.enum(['end', 'requeue']),
}) satisfies z.ZodType<RestartPolicy>;

const probe = z.strictObject({
  ask: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('http'), path: text }),
    z.strictObject({ kind: z.literal('tcp') }),
    z.strictObject({ kind: z.literal('command'), command: script }),
  ]),
  intervalMs: count,
  timeoutMs: count,
  failures: count,
  successes: count,
  initialDelayMs: count,
}) satisfies z.ZodType<Probe>;

const rollout = z.strictObject({
  maxUnavailable: count,
  maxSurge: count,
  minReadyMs: count,
  progressDeadlineMs: count,
  onFailure: z.enum(['pause', 'rollback']),
}) satisfies z.ZodType<RolloutSettings>;

const retry = z.strictObject({ maxAttempts: count, onExit: z.array(z.int()) });

const plainSettings = {
  kind: z.enum(['job', 'service']),
  nodes: count,
  timeoutMs: count.nullable(),
  graceMs: count,
  array: z.strictObject({ size: count, maxRunning: count.nullable() }).nullable(),
  onNodeLoss: z.enum(['replace', 'wait', 'fail']),
  priority: z.int(),
  setupReuse: z.array(text),
  port: z.boolean(),
  replicas: count.nullable(),
  spread: z.enum(['strict', 'prefer', 'none']),
  startup: probe.nullable(),
  liveness: probe.nullable(),
  readiness: probe.nullable(),
};

/** Every setting with its effective value. */
export const settings = z.strictObject({
  ...plainSettings,
  resources: needs,
  retry,
  restart,
  rollout,
}) satisfies z.ZodType<Settings>;

/** Some of the settings, as one layer gives them. */
export const partialSettings = exactPartial({
  ...plainSettings,
  resources: exactPartial(needs.shape),
  retry: exactPartial(retry.shape),
  restart: exactPartial(restart.shape),
  rollout: exactPartial(rollout.shape),
}) satisfies z.ZodType<PartialSettings>;

/** Every key may be absent; none may be undefined. */
function exactPartial<Shape extends Record<string, z.ZodType>>(
  shape: Shape,
): z.ZodObject<{ [Key in keyof Shape]: z.ZodExactOptional<Shape[Key]> }, z.core.$strict> {
  const optional = Object.fromEntries(Object.entries(shape).map(([key, one]) => [key, z.exactOptional(one)]));
  return z.strictObject(optional) as unknown as z.ZodObject<
    { [Key in keyof Shape]: z.ZodExactOptional<Shape[Key]> },
    z.core.$strict
  >;
}
