import * as z from 'zod';
import { jobTable } from './job-table.ts';
import { profileTable } from './profile-table.ts';

/** JSON Schema of a job file, as it is written. */
export function jobFileJsonSchema(): object {
  const file = z.strictObject({ job: jobTable, profile: z.union([z.string(), profileTable]).optional() });
  return z.toJSONSchema(file, { io: 'input' });
}
