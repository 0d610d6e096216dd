import type { JobSpec } from '../core/job/spec.ts';
import { type DocumentError, documentError } from './document-error.ts';

/**
 * Refuses a submission that refers to a secret: there is no store of secrets in this version, so none is set.
 * `where` is said in brackets, such as `job.toml:7 env.HF_TOKEN`; null says the key alone.
 */
export function refuseSecrets(spec: JobSpec, where: (key: string) => string | null = () => null): DocumentError | null {
  for (const [key, value] of Object.entries(spec.env)) {
    if (typeof value === 'string') continue;
    const message = `secret ${JSON.stringify(value.secret)} is not set (${where(key) ?? `env.${key}`})`;
    const hint = `this version keeps no secrets; pass this shell's value, stored as written: --env ${key}`;
    return documentError('NOT_FOUND', message, ['job', 'env', key], hint);
  }
  return null;
}
