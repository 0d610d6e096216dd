/** `<name>-<6 base32 characters>`; the alphabet leaves out what is mistaken for something else. */
export const idAlphabet = 'abcdefghjkmnpqrstuvwxyz023456789';
export const idSuffixLength = 6;

/** How a person addresses a job or one element of it: `ID`, `ID/N`, a unique prefix or a name. */
export interface JobReference {
  readonly job: string;
  /** Array index or rank; null for the whole job. */
  readonly part: number | null;
}

export function parseJobReference(text: string): JobReference | null {
  const parts = /^([a-z0-9][a-z0-9-]{0,62})(?:\/(\d{1,9}))?$/.exec(text);
  if (parts?.[1] === undefined) return null;
  return { job: parts[1], part: parts[2] === undefined ? null : Number(parts[2]) };
}
