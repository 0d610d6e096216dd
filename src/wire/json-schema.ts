import * as z from 'zod';
import { jobTable, serviceTable } from './job-table.ts';
import { namedProfileTable, profileTable } from './profile-table.ts';

/** JSON Schema of a job file, as it is written. */
export function jobFileJsonSchema(): object {
  const file = z.strictObject({ job: jobTable, profile: z.union([z.string(), profileTable]).optional() });
  return z.toJSONSchema(file, { io: 'input' });
}

/** JSON Schema of a service file, as it is written. */
export function serviceFileJsonSchema(): object {
  const file = z.strictObject({ service: serviceTable, profile: z.union([z.string(), profileTable]).optional() });
  return z.toJSONSchema(file, { io: 'input' });
}

/** JSON Schema of the file of a named profile, as it is written. */
export function profileFileJsonSchema(): object {
  return z.toJSONSchema(z.strictObject({ profile: namedProfileTable }), { io: 'input' });
}
