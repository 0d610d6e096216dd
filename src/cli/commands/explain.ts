import type { Context, Invocation } from '../context.ts';
import { findSubject } from '../request/find-subject.ts';
import { settingsTable } from '../request/preview.ts';

/** Why it waits, where it runs or is stuck, or how it ended; and where each value came from. */
export async function execute(context: Context, { args }: Invocation): Promise<number> {
  const client = await context.client();
  const subject = await findSubject(client, args[0] ?? '');
  const explanation = await (subject.kind === 'service' ? subject.service : subject.job).explain();
  context.output.answer(explanation, (width) =>
    [explanation.sentence, '', settingsTable(explanation.settings, width)].join('\n'),
  );
  return 0;
}
