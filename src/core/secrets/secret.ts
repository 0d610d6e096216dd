import type { EnvValue, JobSpec } from '../job/spec.ts';

/**
 * A value that the control plane never sees (G14): whoever sets it seals it to the public keys of the nodes, and what
 * stands here opens on a node alone. Public keys and boxes are base64.
 */
export interface Secret {
  readonly project: string;
  readonly name: string;
  /** Sealed boxes by the public key that opens them. */
  readonly boxes: ReadonlyMap<string, string>;
  /** Who set it. */
  readonly by: string;
  /** Wall clock, Unix milliseconds. */
  readonly setAtMs: number;
}

/** Where a secret stands in the state: names belong to a project. */
export function secretKey(project: string, name: string): string {
  return `${project}/${name}`;
}

/** A variable that gets its value from a secret: the value itself, or the path of a file that holds it. */
export interface SecretVariable {
  readonly variable: string;
  readonly secret: string;
  readonly asFile: boolean;
}

/** The variables of an environment that name secrets, in the order in which they are written. */
export function secretVariables(env: Readonly<Record<string, EnvValue>>): readonly SecretVariable[] {
  return Object.entries(env).flatMap(([variable, value]) =>
    typeof value === 'string' ? [] : [{ variable, secret: value.secret, asFile: value.file === true }],
  );
}

/** The secrets that a spec names, each once, sorted. */
export function secretNames({ env }: Pick<JobSpec, 'env'>): readonly string[] {
  return [...new Set(secretVariables(env).map(({ secret }) => secret))].sort();
}
