import { writeDuration, writeSize } from '../core/units.ts';
import { writeValue } from './write-value.ts';

const durations: Readonly<Record<string, string>> = { timeoutMs: 'timeout', graceMs: 'grace' };
const sizes: Readonly<Record<string, string>> = {
  'resources.gpuMemoryMiB': 'resources.gpuMemory',
  'resources.memoryMiB': 'resources.memory',
  'resources.diskMiB': 'resources.disk',
};

/** One effective setting by the core's dotted key (`timeoutMs`), as a file has it: `timeout` and `"2h"`. */
export function writeSetting(key: string, value: unknown): { readonly key: string; readonly value: string } {
  const asDuration = durations[key];
  if (asDuration !== undefined) {
    return { key: asDuration, value: typeof value === 'number' ? writeValue(writeDuration(value)) : 'none' };
  }
  const asSize = sizes[key];
  if (asSize !== undefined) {
    return { key: asSize, value: typeof value === 'number' ? writeValue(writeSize(value)) : 'none' };
  }
  return { key, value: writeValue(withoutNulls(value)) };
}

function withoutNulls(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== null));
}
