import type * as z from 'zod';
import type { prepared } from '../../wire/http/submissions.ts';
import type { Submission } from '../../wire/submission.ts';

/** A submission as it is sent. */
export type PreparedBody = z.input<typeof prepared>;

/** A copy: what is read here is read-only, and what a schema takes is not. */
export function preparedOf({ spec, source, profile, layers }: Submission): PreparedBody {
  return structuredClone({ spec, source, profile, layers }) as PreparedBody;
}
