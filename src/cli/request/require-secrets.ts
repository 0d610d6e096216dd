import type { RunyardClient } from '../../client/api.ts';
import { RefusalError } from '../../client/refusal-error.ts';
import type { JobSpec } from '../../core/job/spec.ts';
import { refuse } from '../../core/refusal.ts';
import { secretVariables } from '../../core/secrets/secret.ts';
import { lineOf } from '../../wire/parse-file.ts';
import { placeUnsetSecret } from '../../wire/secrets.ts';

/** Where a spec was written. */
export interface SpecSource {
  readonly table: 'job' | 'service';
  /** Null where it was not read from a file. */
  readonly file: { readonly name: string; readonly text: string } | null;
  readonly project: string | undefined;
}

/** Refuses a spec that names a secret which is not set, with the line that names it, before anything is done for it. */
export async function requireSecrets(
  open: () => Promise<RunyardClient>,
  spec: Pick<JobSpec, 'env'>,
  { table, file, project }: SpecSource,
): Promise<void> {
  if (secretVariables(spec.env).length === 0) return;
  const { secrets } = await open();
  try {
    await secrets.require(spec, project === undefined ? {} : { project });
  } catch (error) {
    if (!(error instanceof RefusalError) || error.code !== 'SECRET_NOT_SET') throw error;
    const { code, message, hint, path } = error;
    const key = path?.replace(/^job\.env\./, '') ?? '';
    const line = file === null ? null : ((await lineOf(file.text, [table, 'env', key]))?.line ?? null);
    const refusal = refuse(code, message, { hint, path: `${table}.env.${key}` });
    const place = file === null || line === null ? `env.${key}` : `${file.name}:${line} env.${key}`;
    throw new RefusalError(placeUnsetSecret(refusal, place));
  }
}
