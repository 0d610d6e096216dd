import { type Context, flagOption, type Invocation } from '../context.ts';
import { refuseService } from '../request/find-subject.ts';
import { waitsForNode } from '../request/no-node.ts';

/** Runs an ended job again, as a new one; prints its id. */
export async function execute(context: Context, { args, options }: Invocation): Promise<number> {
  const client = await context.client();
  const [reference = ''] = args;
  await refuseService(client, reference, { verb: 'retry', ours: 'services restart' });
  const job = await client.jobs.get(reference);
  const next = await job.retry({ failed: flagOption(options, 'failed') });
  context.output.answer(context.output.kind === 'json' ? await next.view() : null, () => next.id);
  if (!(await client.nodes.list()).some((node) => node.agentRunning)) {
    context.output.note(waitsForNode(client, next.id));
  }
  return 0;
}
