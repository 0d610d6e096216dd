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
};

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
  const settings = {
    ...builtInSettings,
    resources: { ...builtInSettings.resources },
    retry: { ...builtInSettings.retry },
  };
  const origins: Record<string, string> = {};
  for (const key of settingKeys) origins[key] = 'built-in';
  for (const { origin, values } of layers) {
    overlay(settings as Record<string, unknown>, values, origin, '', origins);
  }
  return { settings, origins };
}

/** Groups merge key by key; every other value, lists and labels included, is replaced as a whole. */
const groups: ReadonlySet<string> = new Set(['resources', 'retry']);

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
