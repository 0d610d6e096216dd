import { describeBytes, parseDurationMs } from '../../core/units.ts';
import { type Context, type Invocation, textOption } from '../context.ts';
import { UsageError } from '../usage-error.ts';

/** Forgets jobs that ended long ago, and the bytes that nothing names any more. */
export async function execute(context: Context, { options }: Invocation): Promise<number> {
  const typed = textOption(options, 'olderThan') ?? '7d';
  const olderThanMs = parseDurationMs(typed);
  if (olderThanMs === null) {
    throw new UsageError(`--older-than is ${JSON.stringify(typed)}; expected a duration such as 7d`);
  }
  const report = await (await context.client()).prune({ olderThanMs });
  context.output.answer(
    report,
    () =>
      `forgot ${report.jobs} jobs and ${report.attempts} attempt folders; freed ${describeBytes(report.freedBytes)}`,
  );
  return 0;
}
