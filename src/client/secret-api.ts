import type { JobSpec } from '../core/job/spec.ts';
import type { SecretView } from '../core/secrets/view.ts';

export type { SecretView };

/** Values that nodes can open and the control plane cannot (G14). Names belong to a project; `default` unless told. */
export interface Secrets {
  /** Never a value. */
  list(options?: InProject): Promise<readonly SecretView[]>;
  /** Seals the value to every node, here, and sets it; over an older one. Running processes keep what they have. */
  set(name: string, value: Uint8Array | string, options?: InProject): Promise<void>;
  remove(name: string, options?: InProject): Promise<void>;
  /** Throws SECRET_NOT_SET unless every secret that the environment names is set. */
  require(spec: Pick<JobSpec, 'env'>, options?: InProject): Promise<void>;
  /** What to seal to. */
  keys(): Promise<readonly SecretKey[]>;
  /** Sets what was sealed elsewhere: boxes in base64 by `keyId`. */
  setSealed(name: string, boxes: Readonly<Record<string, string>>, options?: InProject): Promise<void>;
}

export interface InProject {
  readonly project?: string;
}

export interface SecretKey {
  /** Names the key among boxes: the key itself, so that nobody can mix them up. */
  readonly keyId: string;
  /** X25519, base64. */
  readonly publicKey: string;
  readonly nodes: readonly string[];
}
