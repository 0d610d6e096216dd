import { parse } from 'smol-toml';
import { documentError, type KeyPath } from './document-error.ts';
import { parseEnvFile } from './env-file.ts';
import { jobKeys } from './job-table.ts';
import { unknownKey } from './key-advice.ts';
import { profileKeys } from './profile-table.ts';

/** What the command line may add to a file. Values are text as typed; what is absent changes nothing. */
export interface SubmissionOptions {
  readonly name?: string;
  readonly profile?: string;
  /** `4` or `all`. */
  readonly gpus?: string;
  readonly gpuType?: string;
  readonly cpus?: string;
  readonly memory?: string;
  readonly nodes?: string;
  readonly array?: string;
  /** `K=V` each. */
  readonly label?: readonly string[];
  /** `K=V` each, or `K` for the shell's value. */
  readonly env?: readonly string[];
  readonly envFiles?: readonly { readonly name: string; readonly text: string }[];
  /** `K` or `K=name` each. */
  readonly secret?: readonly string[];
  /** A directory, or false for none. */
  readonly workspace?: string | false;
  readonly exclude?: readonly string[];
  readonly output?: readonly string[];
  readonly timeout?: string;
  readonly maxAttempts?: string;
  readonly priority?: string;
  /** `key=value` each, keys dotted. */
  readonly set?: readonly string[];
}

/** One change of a document; `append` adds to a list. */
export interface Change {
  readonly origin: string;
  readonly path: KeyPath;
  readonly value: unknown;
  readonly how: 'set' | 'append' | 'remove';
}

const simpleOptions = [
  ['gpus', '--gpus', 'resources.gpus', 'number'],
  ['gpuType', '--gpu-type', 'resources.gpuType', 'text'],
  ['cpus', '--cpus', 'resources.cpus', 'number'],
  ['memory', '--memory', 'resources.memory', 'text'],
  ['nodes', '--nodes', 'nodes', 'number'],
  ['array', '--array', 'array.size', 'number'],
  ['timeout', '--timeout', 'timeout', 'text'],
  ['maxAttempts', '--max-attempts', 'retry.maxAttempts', 'number'],
  ['priority', '--priority', 'priority', 'number'],
] as const;

/** Every change in the order in which it is made: `--set` last, so that it wins. */
export function changesOf(options: SubmissionOptions, shellValue: (key: string) => string | undefined): Change[] {
  const changes: Change[] = [];
  if (options.name !== undefined) changes.push(set('--name', ['job', 'name'], options.name));
  for (const [option, origin, key, form] of simpleOptions) {
    const typed = options[option];
    if (typed === undefined) continue;
    changes.push(set(origin, ['profile', ...key.split('.')], form === 'number' ? asNumber(typed) : typed));
  }
  for (const label of options.label ?? []) {
    const [key, value] = splitPair(label, '--label');
    changes.push(set('--label', ['profile', 'resources', 'labels', key], value));
  }
  changes.push(...environment(options, shellValue), ...files(options));
  for (const assignment of options.set ?? []) changes.push(readAssignment(assignment));
  return changes;
}

function environment(options: SubmissionOptions, shellValue: (key: string) => string | undefined): Change[] {
  const changes: Change[] = [];
  for (const { name, text } of options.envFiles ?? []) {
    for (const [key, value] of parseEnvFile(text, name)) changes.push(set('--env-file', ['job', 'env', key], value));
  }
  for (const entry of options.env ?? []) {
    const at = entry.indexOf('=');
    const key = at < 0 ? entry : entry.slice(0, at);
    const value = at < 0 ? shellValue(key) : entry.slice(at + 1);
    if (value === undefined) {
      const hint = `--env ${key}=VALUE, or export ${key} first`;
      throw documentError('BAD_VALUE', `--env ${key}: this shell has no ${key}`, [], hint);
    }
    changes.push(set('--env', ['job', 'env', key], value));
  }
  for (const entry of options.secret ?? []) {
    const [key, name] = entry.includes('=') ? splitPair(entry, '--secret') : [entry, entry];
    changes.push(set('--secret', ['job', 'env', key], { secret: name }));
  }
  return changes;
}

function files(options: SubmissionOptions): Change[] {
  const changes: Change[] = [];
  if (options.workspace === false) {
    changes.push({ origin: '--no-workspace', path: ['job', 'workspace'], value: undefined, how: 'remove' });
  } else if (options.workspace !== undefined) {
    changes.push(set('--workspace', ['job', 'workspace', 'workdir'], options.workspace));
  }
  for (const pattern of options.exclude ?? []) {
    changes.push({ origin: '--exclude', path: ['job', 'workspace', 'exclude'], value: pattern, how: 'append' });
  }
  for (const path of options.output ?? []) {
    changes.push({ origin: '--output', path: ['job', 'outputs'], value: path, how: 'append' });
  }
  return changes;
}

/** `retry.maxAttempts=3`, `job.setup=…`: the value as TOML where it is TOML, as text where it is not. */
function readAssignment(assignment: string): Change {
  const [written, value] = splitPair(assignment, '--set');
  const parts = written.split('.');
  const first = parts[0] ?? '';
  const rooted = first === 'job' || first === 'profile';
  const known = rooted || jobKeys.includes(first) || profileKeys.includes(first);
  if (!known) {
    const advice = unknownKey(['profile', first], value);
    if (advice.code !== 'UNKNOWN_KEY')
      throw documentError(advice.code, `--set: ${advice.message}`, [], advice.refusal.hint);
    const hint = `the keys of [profile] are ${profileKeys.join(', ')}; those of [job] ${jobKeys.join(', ')}`;
    throw documentError('UNKNOWN_KEY', `--set: unknown key "${first}"`, [], hint);
  }
  if (rooted && parts.length < 2) {
    throw documentError('BAD_VALUE', `--set ${written}: expected one key of [${first}], such as ${first}.name=…`, []);
  }
  const table = jobKeys.includes(first) ? 'job' : 'profile';
  const inText = parts[rooted ? 1 : 0] === 'env';
  return set('--set', rooted ? parts : [table, ...parts], inText ? value : asToml(value));
}

/** How an option is named where its value is wrong: of `--set` with its key. */
export function nameOf({ origin, path }: Change): string {
  return origin === '--set' ? `--set ${path.slice(path[0] === 'profile' ? 1 : 0).join('.')}` : origin;
}

function set(origin: string, path: KeyPath, value: unknown): Change {
  return { origin, path, value, how: 'set' };
}

function splitPair(text: string, option: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw documentError('BAD_VALUE', `${option} ${text}: expected KEY=VALUE`, []);
}

function asNumber(typed: string): unknown {
  return /^-?\d+(\.\d+)?$/.test(typed) ? Number(typed) : typed;
}

function asToml(typed: string): unknown {
  try {
    const { value } = parse(`value = ${typed}`, { maxDepth: 64 });
    return value instanceof Date ? typed : value;
  } catch {
    // What is no TOML value is text: `--set timeout=2h` needs no quotes within quotes.
    return typed;
  }
}
