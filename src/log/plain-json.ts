import { LogError } from './log-error.ts';

/**
 * JSON text of a value that reads back as exactly what was written: keys keep their order, and anything that JSON would
 * drop or change (undefined, NaN, a Date) is refused, since its writer would evolve another state than its readers.
 */
export function plainJson(value: unknown, where: string): string {
  refuseNonJson(value, where);
  return JSON.stringify(value);
}

function refuseNonJson(value: unknown, where: string): void {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return;
  if (typeof value === 'object') refuseNonJsonInside(value, where);
  else if (typeof value !== 'number') throw notPlain(where, typeof value);
  else if (!Number.isFinite(value)) throw notPlain(where, String(value));
}

function refuseNonJsonInside(value: object, where: string): void {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) refuseNonJson(item, `${where}[${index}]`);
    return;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw notPlain(where, 'an object of a class');
  for (const [key, item] of Object.entries(value)) refuseNonJson(item, `${where}.${key}`);
}

function notPlain(where: string, found: string): LogError {
  return new LogError('NOT_PLAIN_JSON', `${where}: found ${found}, but only plain JSON can be logged`);
}
