/** A certificate as people compare it: `sha256:` and 64 digits of lower-case hex. */
export type Fingerprint = string;

/** As it is written: `sha256:` may be missing, colons and capitals may be there. Null where it is none. */
export function readFingerprint(text: string): Fingerprint | null {
  const digits = text
    .trim()
    .toLowerCase()
    .replace(/^sha-?256[:=]/, '')
    .replaceAll(':', '');
  return /^[0-9a-f]{64}$/.test(digits) ? `sha256:${digits}` : null;
}
