import type { Settings } from '../profile/settings.ts';
import { type Refusal, refuse } from '../refusal.ts';
import { checkSecretVariable } from '../secrets/check-secret.ts';
import { checkRestartPolicy } from '../supervision/policy.ts';
import { checkProbes } from '../supervision/probe.ts';
import { describeDuration } from '../units.ts';
import type { JobSpec, Script } from './spec.ts';

const longestArgumentBytes = 128 * 1024;
const mostOutputs = 1000;
const largestOutputsBytes = 128 * 1024;
const largestEnvironmentBytes = 1_800_000;
const nameForm = /^[a-z0-9][a-z0-9-]{0,49}$/;

/** What is wrong with a submission, as far as the operating system and the rules of names go; null when nothing is. */
export function checkSpec(spec: JobSpec): Refusal | null {
  return (
    checkName(spec.name, 'job.name') ??
    checkScript(spec.run, 'job.run') ??
    (spec.setup === null ? null : checkScript(spec.setup, 'job.setup')) ??
    checkArguments(spec.args, 'job.args') ??
    checkEnvironment(spec) ??
    firstRefusal(spec.outputs, (path) => checkOutputPath(path)) ??
    checkOutputCount(spec.outputs) ??
    checkBytes(spec.workspace?.workdir ?? '', 'job.workspace.workdir') ??
    firstRefusal(spec.workspace?.exclude ?? [], (pattern) => checkBytes(pattern, 'job.workspace.exclude'))
  );
}

/** `[a-z0-9-]{1,50}`: nothing that looks like another name, fits no DNS label, or needs quoting. */
export function checkName(name: string, path: string): Refusal | null {
  if (nameForm.test(name)) return null;
  const shown = name.length > 60 ? `${name.slice(0, 57)}…` : name;
  return refuse('BAD_NAME', `${JSON.stringify(shown)} is not a name`, {
    path,
    hint: 'use 1 to 50 of a-z, 0-9 and "-", starting with a letter or digit',
  });
}

/** Outputs are relative to the task's work directory and stay in it (S5). */
export function checkOutputPath(path: string): Refusal | null {
  const bad = checkBytes(path, 'job.outputs');
  if (bad !== null) return bad;
  const parts = path.split('/');
  if (path === '' || path.startsWith('/') || parts.includes('..')) {
    return refuse('PATH_ESCAPE', `output ${JSON.stringify(path)} leaves the work directory`, {
      path: 'job.outputs',
      hint: 'name a file or directory inside it, relative to it',
    });
  }
  return null;
}

/** What became of each is told in one message of the node. */
function checkOutputCount(outputs: readonly string[]): Refusal | null {
  const hint = 'name the folder that they are in';
  if (outputs.length > mostOutputs) {
    return refuse('RANGE', `${outputs.length} outputs are declared; at most ${mostOutputs} may be`, {
      path: 'job.outputs',
      hint,
    });
  }
  const totalBytes = outputs.reduce((sum, path) => sum + byteLength(path), 0);
  if (totalBytes <= largestOutputsBytes) return null;
  return refuse(
    'RANGE',
    `the paths of the outputs are ${totalBytes} bytes together; at most ${largestOutputsBytes} fit`,
    {
      path: 'job.outputs',
      hint,
    },
  );
}

/** Settings that no node could keep, or that would do nothing. */
export function checkSettings(settings: Settings): Refusal | null {
  const { retry, array, resources } = settings;
  return (
    range(settings.nodes, 'nodes', 1, 4096) ??
    range(retry.maxAttempts, 'retry.maxAttempts', 1, 1000) ??
    range(settings.priority, 'priority', -1000, 1000) ??
    range(resources.cpus, 'resources.cpus', 0, 4096, false) ??
    (resources.gpus === 'all' ? null : range(resources.gpus, 'resources.gpus', 0, 4096)) ??
    sizeRange(resources.memoryMiB, 'resources.memory') ??
    sizeRange(resources.gpuMemoryMiB, 'resources.gpuMemory') ??
    sizeRange(resources.diskMiB, 'resources.disk') ??
    checkGrace(settings.graceMs, 'profile.grace') ??
    (array === null ? null : range(array.size, 'array.size', 1, 1_000_000)) ??
    (array?.maxRunning == null ? null : range(array.maxRunning, 'array.maxRunning', 1, 1_000_000)) ??
    (settings.timeoutMs === null ? null : durationRange(settings.timeoutMs, 'timeout')) ??
    firstRefusal(retry.onExit, (code) => range(code, 'retry.onExit', 1, 255)) ??
    firstRefusal(settings.setupReuse, (path) => checkOutputPath(path)) ??
    checkService(settings)
  );
}

/** What only work that stays up has (X1–X3, X25). */
function checkService(settings: Settings): Refusal | null {
  const { kind, array, restart, rollout, startup, liveness, readiness, replicas } = settings;
  if (kind === 'service' && array !== null) {
    return refuse('BAD_VALUE', 'a service has replicas, not an array', { path: 'profile.array', hint: 'replicas = N' });
  }
  const wrong =
    checkRestartPolicy(restart) ??
    checkProbes({ startup, liveness, readiness }) ??
    (replicas === null ? null : range(replicas, 'replicas', 0, 64)) ??
    range(rollout.maxSurge, 'rollout.maxSurge', 0, 64) ??
    range(rollout.maxUnavailable, 'rollout.maxUnavailable', 0, 64) ??
    durationRange(rollout.progressDeadlineMs, 'rollout.progressDeadline') ??
    range(rollout.minReadyMs, 'rollout.minReady', 0, Number.MAX_SAFE_INTEGER);
  if (wrong !== null) return wrong;
  if (rollout.minReadyMs >= rollout.progressDeadlineMs) {
    const deadline = describeDuration(rollout.progressDeadlineMs);
    return refuse(
      'NEVER_FIRES',
      `rollout.minReady is ${describeDuration(rollout.minReadyMs)}, and progressDeadline ends the rollout after ${deadline}`,
      { path: 'profile.rollout.minReady', hint: 'make minReady shorter, or progressDeadline longer' },
    );
  }
  if (rollout.maxSurge > 0 || rollout.maxUnavailable > 0) return null;
  return refuse(
    'NEVER_FIRES',
    'rollout.maxSurge and rollout.maxUnavailable are both 0: no replica could ever be replaced',
    {
      path: 'profile.rollout',
      hint: 'allow one of them at least 1',
    },
  );
}

/** `indices` name elements of the array, each once; null stands for all of it. */
export function checkIndices(indices: readonly number[] | null, settings: Settings): Refusal | null {
  if (indices === null) return null;
  if (settings.array === null)
    return refuse('BAD_VALUE', 'indices were given for a job that is no array', { path: 'indices' });
  const { size } = settings.array;
  const wrong = indices.find((index) => !Number.isInteger(index) || index < 0 || index >= size);
  if (wrong !== undefined) {
    return refuse('RANGE', `index ${wrong} is not in the array; expected a whole number from 0 to ${size - 1}`, {
      path: 'indices',
    });
  }
  if (indices.length > 0 && new Set(indices).size === indices.length) return null;
  return refuse('BAD_VALUE', indices.length === 0 ? 'no index was given' : 'an index was given twice', {
    path: 'indices',
  });
}

export function checkGrace(graceMs: number, path: string): Refusal | null {
  if (Number.isSafeInteger(graceMs) && graceMs >= 0) return null;
  return refuse('RANGE', `${path} is ${graceMs} ms; expected a whole number of milliseconds from 0`, { path });
}

const largestSizeMiB = 2 ** 33;

function sizeRange(sizeMiB: number | null, key: string): Refusal | null {
  return sizeMiB === null ? null : range(sizeMiB, key, 0, largestSizeMiB);
}

/** A time that must pass: none at all would end the work before it began. */
function durationRange(ms: number, key: string): Refusal | null {
  if (Number.isSafeInteger(ms) && ms > 0) return null;
  const shown = Number.isSafeInteger(ms) ? describeDuration(ms) : ms;
  const path = `profile.${key}`;
  return refuse('RANGE', `${path} is ${shown}; expected a duration above 0, such as "2h"`, { path });
}

function range(value: number, key: string, least: number, most: number, whole = true): Refusal | null {
  const fits = Number.isFinite(value) && value >= least && value <= most && (!whole || Number.isInteger(value));
  if (fits) return null;
  return refuse(
    'RANGE',
    `profile.${key} is ${value}; expected ${whole ? 'a whole number' : 'a number'} from ${least} to ${most}`,
    {
      path: `profile.${key}`,
    },
  );
}

function checkScript(script: Script, path: string): Refusal | null {
  if (typeof script !== 'string') {
    if (script.length === 0 || script[0] === '') return refuse('BAD_VALUE', `${path} names no command`, { path });
    return checkArguments(script, path);
  }
  if (script.trim() === '') return refuse('BAD_VALUE', `${path} is empty`, { path });
  return script.includes('\0') ? badByte(path) : null;
}

function checkArguments(args: readonly string[], path: string): Refusal | null {
  for (const argument of args) {
    if (argument.includes('\0')) return badByte(path);
    if (byteLength(argument) >= longestArgumentBytes) {
      return refuse(
        'ENV_TOO_LARGE',
        `an argument in ${path} is ${byteLength(argument)} bytes; the kernel takes at most ${longestArgumentBytes}`,
        {
          path,
          hint: 'put it into a file of the workspace',
        },
      );
    }
  }
  return null;
}

function checkEnvironment(spec: JobSpec): Refusal | null {
  let totalBytes = 0;
  for (const [key, value] of Object.entries(spec.env)) {
    const path = `job.env.${key}`;
    if (key === '' || key.includes('=') || key.includes('\0')) {
      return refuse('BAD_ENV_KEY', `${JSON.stringify(key)} cannot be an environment name`, {
        path,
        hint: 'use a name without "="',
      });
    }
    const text = typeof value === 'string' ? value : value.secret;
    if (text.includes('\0') || hasControlBytes(key)) return badByte(path);
    const secret = typeof value === 'string' ? null : checkSecretVariable(key, value.secret);
    if (secret !== null) return secret;
    const entryBytes = byteLength(key) + byteLength(text) + 2;
    if (entryBytes >= longestArgumentBytes) {
      return refuse(
        'ENV_TOO_LARGE',
        `${path} is ${entryBytes} bytes; the kernel takes at most ${longestArgumentBytes} for one value`,
        {
          path,
          hint: 'put it into a file of the workspace',
        },
      );
    }
    totalBytes += entryBytes;
  }
  for (const part of [spec.run, spec.args].flat()) totalBytes += byteLength(part) + 1;
  if (totalBytes <= largestEnvironmentBytes) return null;
  return refuse(
    'ENV_TOO_LARGE',
    `arguments and environment are ${totalBytes} bytes together; at most ${largestEnvironmentBytes} fit`,
    {
      path: 'job.env',
      hint: 'put large values into files of the workspace',
    },
  );
}

/** Text that others will read, or that the operating system is given: no NUL or control byte in it. */
export function checkBytes(text: string, path: string): Refusal | null {
  return hasControlBytes(text) ? badByte(path) : null;
}

function hasControlBytes(text: string): boolean {
  for (let position = 0; position < text.length; position += 1) {
    const code = text.charCodeAt(position);
    if (code < 32 || code === 127) return true;
  }
  return false;
}

function badByte(path: string): Refusal {
  // A name with such a byte is part of the path.
  const shown = hasControlBytes(path) ? JSON.stringify(path).slice(1, -1) : path;
  return refuse('BAD_BYTE', `${shown} contains a NUL or control byte`, { path, hint: 'remove it' });
}

/** UTF-8 length, without an encoder. */
export function byteLength(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}

function firstRefusal<Item>(items: readonly Item[], check: (item: Item) => Refusal | null): Refusal | null {
  for (const item of items) {
    const refusal = check(item);
    if (refusal !== null) return refusal;
  }
  return null;
}
