import * as z from 'zod';
import { parseDurationMs, parseSizeMiB, writeDuration, writeSize } from '../core/units.ts';

/**
 * The leaves of every schema. The message of each is what was expected, as the second half of
 * `nodes in [profile] is 1.5; expected a whole number from 1 to 4096`.
 */

/** `otherwise` is what a union with this number takes besides. */
export function wholeNumber(least: number, most: number, otherwise = '') {
  const error = `a whole number from ${least} to ${most}${otherwise}`;
  return z.int({ error }).min(least, { error }).max(most, { error });
}

export function someNumber(least: number, most: number) {
  const error = `a number from ${least} to ${most}`;
  return z.number({ error }).min(least, { error }).max(most, { error });
}

export const text = z.string({ error: 'text in quotes' });
export const truth = z.boolean({ error: 'true or false' });
export const textList = z.array(text, { error: 'a list of texts' });

export function oneOf<const Word extends string>(words: readonly [Word, ...Word[]]) {
  return z.enum(words, { error: words.map((word) => `"${word}"`).join(' or ') });
}

const durationWords = 'a duration such as "90s", "2h" or "1h30m", ten years at most';

/** `"90s"` in the file, milliseconds inside. */
export const duration = z.codec(z.string({ error: durationWords }), z.number(), {
  decode: (written, context) => {
    const ms = parseDurationMs(written);
    if (ms !== null) return ms;
    const code = /^[\d.]+(ms|s|m|h|d)/.test(written) && /^[\d.smhd]+$/.test(written) ? 'RANGE' : 'BAD_VALUE';
    context.issues.push({ code: 'custom', input: written, message: durationWords, params: { code } });
    return z.NEVER;
  },
  encode: writeDuration,
});

const sizeWords = 'a size such as "16GiB" or "500MB"';

/** `"16GiB"` in the file, MiB inside. */
export const size = z.codec(z.string({ error: sizeWords }), z.number(), {
  decode: (written, context) => {
    const sizeMiB = parseSizeMiB(written);
    if (sizeMiB !== null) return sizeMiB;
    const code = /^\d+(\.\d+)? ?[KMGT]i?B$/.test(written) ? 'RANGE' : 'BAD_VALUE';
    context.issues.push({ code: 'custom', input: written, message: sizeWords, params: { code } });
    return z.NEVER;
  },
  encode: writeSize,
});
