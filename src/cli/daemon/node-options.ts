import { resolve } from 'node:path';
import type { NodeOptions } from '../../client/api.ts';
import { parseSizeMiB } from '../../core/units.ts';
import { listOption, type Options, textOption } from '../context.ts';
import { UsageError } from '../usage-error.ts';

/** What `yard node start` and `yard up` take. */
export function readNodeOptions(options: Options): NodeOptions {
  const cpus = numberOption(options, 'cpus', /^\d+(\.\d+)?$/);
  const gpus = numberOption(options, 'gpus', /^\d+$/);
  const name = textOption(options, 'name');
  const advertise = textOption(options, 'advertise');
  if (advertise !== undefined && !addressForm.test(advertise)) {
    throw new UsageError(`--advertise is ${shorten(advertise)}; expected an address, of 200 characters at most`);
  }
  const memory = textOption(options, 'memory');
  const memoryMiB = memory === undefined ? undefined : parseSizeMiB(memory);
  if (memoryMiB === null) throw new UsageError(`--memory is ${JSON.stringify(memory)}; expected a size such as 16GiB`);
  const labels = listOption(options, 'labels')
    .flatMap((list) => list.split(','))
    .map(readLabel);
  return {
    ...(name === undefined ? {} : { name }),
    ...(labels.length === 0 ? {} : { labels: Object.fromEntries(labels) }),
    ...(cpus === undefined ? {} : { cpus }),
    ...(gpus === undefined ? {} : { gpus }),
    ...(memoryMiB === undefined ? {} : { memoryMiB }),
    ...(advertise === undefined ? {} : { advertise }),
  };
}

/** The same options as they are typed, for the daemon that is started with them. */
export function writeNodeOptions(options: Options, cwd: string): readonly string[] {
  const simple = ['name', 'cpus', 'memory', 'gpus', 'advertise', 'server', 'context'].flatMap((key) => {
    const value = textOption(options, key);
    return value === undefined ? [] : [`--${key}`, value];
  });
  const tokenFile = textOption(options, 'tokenFile');
  const token = tokenFile === undefined ? [] : ['--token-file', resolve(cwd, tokenFile)];
  return [...simple, ...token, ...listOption(options, 'labels').flatMap((label) => ['--labels', label])];
}

function numberOption(options: Options, name: string, form: RegExp): number | undefined {
  const typed = textOption(options, name);
  if (typed === undefined) return undefined;
  if (form.test(typed)) return Number(typed);
  throw new UsageError(`--${name} is ${JSON.stringify(typed)}; expected a number, 0 or more`);
}

function readLabel(label: string): readonly [string, string] {
  const at = label.indexOf('=');
  if (at > 0 && labelForm.test(label)) return [label.slice(0, at), label.slice(at + 1)];
  throw new UsageError(`--labels ${shorten(label)}: expected K=V, of 200 printable characters at most`);
}

/** The server reads no longer ones, and shows them to everybody. */
const addressForm = /^[!-~]{1,200}$/;
const labelForm = /^\P{Cc}{1,200}$/u;

function shorten(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}…` : text);
}
