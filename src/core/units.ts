/** Durations and sizes as people write them. Pure; the schemas use these, and so do the tables of the CLI. */

const durationUnitsMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const longestMs = 10 * 365 * 86_400_000;

/** Milliseconds of `90s`, `1h30m`, `2d` or `500ms`; null when the text is no duration or longer than ten years. */
export function parseDurationMs(text: string): number | null {
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) return null;
  let totalMs = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    totalMs += Number(amount) * durationUnitsMs[unit as keyof typeof durationUnitsMs];
  }
  return Number.isFinite(totalMs) && totalMs <= longestMs ? Math.round(totalMs) : null;
}

/** The shortest exact way to write a duration in a file: `90s`, `2h`, `1h30m`. */
export function writeDuration(ms: number): string {
  if (ms === 0) return '0s';
  let text = '';
  let restMs = ms;
  for (const unit of ['d', 'h', 'm', 's', 'ms'] as const) {
    const amount = Math.floor(restMs / durationUnitsMs[unit]);
    if (amount > 0) text += `${amount}${unit}`;
    restMs -= amount * durationUnitsMs[unit];
  }
  return text;
}

/** For people, at most two units: `0.4 s`, `12 s`, `1 min 8 s`, `2 h 5 min`, `3 d`. */
export function describeDuration(ms: number): string {
  if (ms < 10_000) return `${(Math.max(0, ms) / 1000).toFixed(1)} s`;
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return twoUnits(Math.floor(seconds / 60), 'min', seconds % 60, 's');
  if (seconds < 86_400) return twoUnits(Math.floor(seconds / 3600), 'h', Math.floor((seconds % 3600) / 60), 'min');
  return twoUnits(Math.floor(seconds / 86_400), 'd', Math.floor((seconds % 86_400) / 3600), 'h');
}

function twoUnits(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
}

const sizeUnitsMiB = {
  KiB: 1 / 1024,
  MiB: 1,
  GiB: 1024,
  TiB: 1024 * 1024,
  KB: 1e3 / 1048576,
  MB: 1e6 / 1048576,
  GB: 1e9 / 1048576,
  TB: 1e12 / 1048576,
} as const;

/** MiB (rounded up) of `16GiB`, `500MB` and the like; null when the text is no size or above 2^53 bytes. */
export function parseSizeMiB(text: string): number | null {
  const parts = /^(\d+(?:\.\d+)?) ?(KiB|MiB|GiB|TiB|KB|MB|GB|TB)$/.exec(text);
  if (parts === null) return null;
  const sizeMiB = Math.ceil(Number(parts[1]) * sizeUnitsMiB[parts[2] as keyof typeof sizeUnitsMiB]);
  return sizeMiB <= 2 ** 33 ? sizeMiB : null;
}

/** The shortest exact way to write a size in a file: `16GiB`, `500MiB`. */
export function writeSize(sizeMiB: number): string {
  if (sizeMiB > 0 && sizeMiB % (1024 * 1024) === 0) return `${sizeMiB / (1024 * 1024)}TiB`;
  if (sizeMiB > 0 && sizeMiB % 1024 === 0) return `${sizeMiB / 1024}GiB`;
  return `${sizeMiB}MiB`;
}

/** For people: `0 B`, `812 B`, `3.1 MiB`, `16 GiB`. */
export function describeBytes(sizeBytes: number): string {
  if (sizeBytes < 1024) return `${sizeBytes} B`;
  let size = sizeBytes;
  let unit = 'B';
  for (const next of ['KiB', 'MiB', 'GiB', 'TiB']) {
    if (size < 1024) break;
    size /= 1024;
    unit = next;
  }
  return `${size >= 100 || Number.isInteger(size) ? Math.round(size) : size.toFixed(1)} ${unit}`;
}
