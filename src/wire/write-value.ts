/** A value as it would stand in a TOML file: `"text"`, `[75]`, `{ zone = "a" }`. */
export function writeValue(value: unknown): string {
  if (value === null || value === undefined) return 'none';
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(writeValue).join(', ')}]`;
  if (typeof value !== 'object') return `${value as number | boolean}`;
  const entries = Object.entries(value);
  if (entries.length === 0) return '{}';
  return `{ ${entries.map(([key, item]) => `${writeKey(key)} = ${writeValue(item)}`).join(', ')} }`;
}

/** A value for a message: cut where it is long. */
export function showValue(value: unknown): string {
  const written = writeValue(value);
  return written.length > 60 ? `${written.slice(0, 57)}…` : written;
}

function writeKey(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key);
}
