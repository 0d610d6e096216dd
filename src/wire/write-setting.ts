import type { Probe } from '../core/supervision/probe.ts';
import { writeDuration, writeSize } from '../core/units.ts';
import { writeValue } from './write-value.ts';

/** One effective setting by the core's dotted key (`timeoutMs`), as a file has it: `timeout` and `"2h"`. */
export function writeSetting(key: string, value: unknown): { readonly key: string; readonly value: string } {
  return { key: keyInFile(key), value: writeValue(valueInFile(key, value)) };
}

/** In the core a name ends in its unit; in a file the value says it. */
function keyInFile(key: string): string {
  return key.replace(/(?:Ms|MiB)$/, '').replace(/\bonGiveUp$/, 'then');
}

function valueInFile(key: string, value: unknown): unknown {
  if (typeof value === 'number' && key.endsWith('Ms')) return writeDuration(value);
  if (typeof value === 'number' && key.endsWith('MiB')) return writeSize(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const present = Object.entries(flatten(value)).filter(([, item]) => item !== null);
  return Object.fromEntries(present.map(([inner, item]) => [keyInFile(inner), valueInFile(inner, item)]));
}

/** What is told apart by a kind in the core is told apart by its keys in a file: `ask` of a probe, a rule to give up. */
function flatten(value: object): object {
  if ('ask' in value) {
    const { ask, ...rest } = value;
    return { ...flattenAsk(ask as Probe['ask']), ...rest };
  }
  if (!('kind' in value)) return value;
  const { kind: _kind, ...rest } = value;
  return rest;
}

function flattenAsk(ask: Probe['ask']): object {
  switch (ask.kind) {
    case 'http':
      return { http: ask.path };
    case 'tcp':
      return { tcp: true };
    case 'command':
      return { command: ask.command };
  }
}
