import { defaultRestart, type RestartPolicy } from '../supervision/policy.ts';
import type { Probe } from '../supervision/probe.ts';

/** How to run: the effective values of a profile, in base units. Every key has a value; null means no limit or no wish. */
export interface Settings {
  readonly kind: 'job' | 'service';
  /** Ranks; each on its own node. */
  readonly nodes: number;
  readonly resources: Needs;
  readonly timeoutMs: number | null;
  readonly graceMs: number;
  readonly retry: { readonly maxAttempts: number; readonly onExit: readonly number[] };
  readonly array: { readonly size: number; readonly maxRunning: number | null } | null;
  readonly onNodeLoss: OnNodeLoss;
  readonly priority: number;
  readonly setupReuse: readonly string[];
  readonly port: boolean;
  /** Replicas of a service; null leaves the number that it has. */
  readonly replicas: number | null;
  readonly spread: Spread;
  readonly restart: RestartPolicy;
  readonly startup: Probe | null;
  readonly liveness: Probe | null;
  readonly readiness: Probe | null;
  readonly rollout: RolloutSettings;
}

/** `strict`: at most one replica a node; `prefer`: as few together as fit. */
export type Spread = 'strict' | 'prefer' | 'none';

/** How a new revision replaces the old one (X25). */
export interface RolloutSettings {
  readonly maxUnavailable: number;
  readonly maxSurge: number;
  /** Ready without a break for this long counts as available. */
  readonly minReadyMs: number;
  /** Longest time without progress. */
  readonly progressDeadlineMs: number;
  readonly onFailure: 'pause' | 'rollback';
}

export type OnNodeLoss = 'replace' | 'wait' | 'fail';

/** What one task needs on its node. */
export interface Needs {
  /** `all`: every GPU of the node, and with it the node's cores and memory. */
  readonly gpus: number | 'all';
  readonly gpuType: string | null;
  readonly gpuMemoryMiB: number | null;
  readonly cpus: number;
  readonly memoryMiB: number | null;
  readonly diskMiB: number | null;
  readonly labels: Readonly<Record<string, string>>;
}

/** Some of the settings, as one layer gives them. */
export type PartialSettings = {
  readonly [Key in keyof Settings]?: Key extends 'resources'
    ? Partial<Needs>
    : Key extends 'retry'
      ? Partial<Settings['retry']>
      : Key extends 'restart'
        ? Partial<RestartPolicy>
        : Key extends 'rollout'
          ? Partial<RolloutSettings>
          : Settings[Key];
};

/** The built-in profile: one core, no GPU, one attempt, no time limit (U2, U5). */
export const builtInSettings: Settings = {
  kind: 'job',
  nodes: 1,
  resources: { gpus: 0, gpuType: null, gpuMemoryMiB: null, cpus: 1, memoryMiB: null, diskMiB: null, labels: {} },
  timeoutMs: null,
  graceMs: 30_000,
  retry: { maxAttempts: 1, onExit: [] },
  array: null,
  onNodeLoss: 'replace',
  priority: 0,
  setupReuse: [],
  port: false,
  replicas: null,
  spread: 'prefer',
  restart: { ...defaultRestart, policy: 'never' },
  startup: null,
  liveness: null,
  readiness: null,
  rollout: { maxUnavailable: 0, maxSurge: 1, minReadyMs: 5000, progressDeadlineMs: 600_000, onFailure: 'pause' },
};

/** What differs for work that stays up: it is restarted, and has a port (G2, X1). */
const serviceSettings: PartialSettings = { restart: { policy: 'always' }, port: true };

/** A replica that spans nodes is placed again as a whole, this often by default (G4). */
const spanningSettings: PartialSettings = { retry: { maxAttempts: 10 } };

/** One source of settings; later layers win over earlier ones. */
export interface SettingsLayer {
  /** Where the values stand, for people: `built-in`, `profile big@3`, `job.toml`, `--gpus`. */
  readonly origin: string;
  readonly values: PartialSettings;
}

/** Effective settings, and for each dotted key (`resources.gpus`) the origin that won (X33). */
export interface Merged {
  readonly settings: Settings;
  readonly origins: Readonly<Record<string, string>>;
}

export function mergeSettings(layers: readonly SettingsLayer[]): Merged {
  const { resources, retry, restart, rollout } = builtInSettings;
  const settings = {
    ...builtInSettings,
    resources: { ...resources },
    retry: { ...retry },
    restart: { ...restart },
    rollout: { ...rollout },
  };
  const origins: Record<string, string> = {};
  for (const key of settingKeys) origins[key] = 'built-in';
  for (const { origin, values } of [...kindLayers(layers), ...layers]) {
    overlay(settings as Record<string, unknown>, values, origin, '', origins);
  }
  return { settings, origins };
}

/** Built-in values that depend on what the layers ask for. */
function kindLayers(layers: readonly SettingsLayer[]): readonly SettingsLayer[] {
  const written = layers.findLast(({ values }) => values.kind !== undefined)?.values.kind;
  const implied = written === undefined ? layers.findLast(({ values }) => staysUp(values)) : undefined;
  if (written !== 'service' && implied === undefined) return [];
  const forService = { origin: 'built-in', values: serviceSettings };
  const kind: SettingsLayer[] = implied === undefined ? [] : [{ origin: implied.origin, values: { kind: 'service' } }];
  const nodes = layers.findLast(({ values }) => values.nodes !== undefined)?.values.nodes ?? 1;
  return [...kind, forService, ...(nodes > 1 ? [{ origin: 'built-in', values: spanningSettings }] : [])];
}

/** Keys that only work which stays up can have: whoever writes one of them means such work, and need not say so twice. */
function staysUp(values: PartialSettings): boolean {
  const { replicas, spread, restart, startup, liveness, readiness, rollout } = values;
  return [replicas, spread, restart, startup, liveness, readiness, rollout].some((value) => value != null);
}

/** Groups merge key by key; every other value, lists and labels included, is replaced as a whole. */
const groups: ReadonlySet<string> = new Set(['resources', 'retry', 'restart', 'rollout']);

/** Every dotted key that has a value of its own. */
export const settingKeys: readonly string[] = Object.entries(builtInSettings).flatMap(([key, value]) =>
  groups.has(key) ? Object.keys(value as object).map((inner) => `${key}.${inner}`) : [key],
);

function overlay(
  target: Record<string, unknown>,
  values: object,
  origin: string,
  prefix: string,
  origins: Record<string, string>,
): void {
  for (const [key, value] of Object.entries(values)) {
    if (value === undefined) continue;
    if (prefix === '' && groups.has(key)) {
      overlay(target[key] as Record<string, unknown>, value as object, origin, `${key}.`, origins);
      continue;
    }
    target[key] = value;
    origins[prefix + key] = origin;
  }
}
