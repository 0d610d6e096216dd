import * as z from 'zod';
import type { EnvValue, JobSpec, Script, WorkspaceSpec } from '../core/job/spec.ts';
import { text, textList } from './leaves.ts';

const mostPatterns = 1000;
const longestPattern = 1024;
const mostDoubleStars = 4;

/** Shell text, or an argument vector. */
export const script = z.union([z.string(), z.array(z.string())], {
  error: 'text, or a list of texts',
}) satisfies z.ZodType<Script>;

const envValue = z.union([z.string(), z.strictObject({ secret: z.string(), file: z.exactOptional(z.boolean()) })], {
  error: 'text in quotes, or { secret = "name" }',
}) satisfies z.ZodType<EnvValue>;

/** A pattern whose matching would take longer than it could be worth [R4.22]. */
const pattern = text.check((context) => {
  const doubleStars = context.value.split('/').filter((segment) => segment === '**').length;
  if (context.value.length <= longestPattern && doubleStars <= mostDoubleStars) return;
  context.issues.push({
    code: 'custom',
    input: context.value,
    message: `a pattern of at most ${longestPattern} characters with at most ${mostDoubleStars} "**"`,
    params: { code: 'RANGE' },
  });
});

const patterns = z
  .array(pattern, { error: 'a list of patterns' })
  .max(mostPatterns, { error: `at most ${mostPatterns} patterns` });

const workspace = z.strictObject(
  { workdir: text, exclude: patterns.optional() },
  { error: 'a table such as { workdir = "." }' },
) satisfies z.ZodType<Omit<WorkspaceSpec, 'exclude'>>;

/** `[service]`: what to keep up. It has no outputs, for it does not end. */
export const serviceTable = z.strictObject(
  {
    name: text,
    setup: script.optional(),
    run: script,
    workspace: workspace.optional(),
    env: z.record(z.string(), envValue, { error: 'a table of texts' }).optional(),
  },
  { error: 'a table' },
);

/** `[job]`: what to do; these six keys and no others (S1). */
export const jobTable = serviceTable.extend({ outputs: textList.optional() });

export type JobTable = z.output<typeof jobTable>;

export const jobKeys: readonly string[] = Object.keys(jobTable.shape);
export const serviceTableKeys: readonly string[] = Object.keys(serviceTable.shape);
export const workspaceKeys: readonly string[] = Object.keys(workspace.shape);

/** The spec of a table that passed the schema; `args` are what followed `--`. */
export function toSpec(table: JobTable, args: readonly string[]): JobSpec {
  return {
    name: table.name,
    run: table.run,
    setup: table.setup ?? null,
    workspace:
      table.workspace === undefined
        ? null
        : { workdir: table.workspace.workdir, exclude: table.workspace.exclude ?? [] },
    outputs: table.outputs ?? [],
    env: table.env ?? {},
    args,
  };
}
