import { type Context, type Invocation, textOption } from '../context.ts';
import { follow } from '../follow/follow.ts';
import { watchInterrupts } from '../follow/interrupts.ts';
import { noNode } from '../follow/own-node.ts';
import { refuseService } from '../request/find-subject.ts';

/** Follows a job from where it is. */
export async function execute(context: Context, { args, options }: Invocation): Promise<number> {
  const client = await context.client();
  const [reference = ''] = args;
  await refuseService(client, reference, { verb: 'attach', ours: 'logs -f' });
  const job = await client.jobs.get(reference);
  const interrupts = watchInterrupts(context, noNode);
  try {
    const to = textOption(options, 'to') ?? null;
    return await follow(context, client, job, { interrupts, own: null, to, sinceMs: Date.now() });
  } finally {
    interrupts.end();
  }
}
