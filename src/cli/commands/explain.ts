import type { Context, Invocation } from '../context.ts';
import { settingsTable } from '../request/preview.ts';

/** Why it waits, where it runs or how it ended; and where each value came from. */
export async function execute(context: Context, { args }: Invocation): Promise<number> {
  const client = await context.client();
  const explanation = await (await client.jobs.get(args[0] ?? '')).explain();
  context.output.answer(explanation, (width) =>
    [explanation.sentence, '', settingsTable(explanation.settings, width)].join('\n'),
  );
  return 0;
}
