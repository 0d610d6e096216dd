import { type Context, type Invocation, textOption } from '../context.ts';
import { follow } from '../follow/follow.ts';
import { watchInterrupts } from '../follow/interrupts.ts';
import { noNode } from '../follow/own-node.ts';

/** Follows a job from where it is. */
export async function execute(context: Context, { args, options }: Invocation): Promise<number> {
  const client = await context.client();
  const job = await client.jobs.get(args[0] ?? '');
  const interrupts = watchInterrupts(context, noNode);
  try {
    const to = textOption(options, 'to') ?? null;
    return await follow(context, client, job, { interrupts, own: null, to, sinceMs: Date.now() });
  } finally {
    interrupts.end();
  }
}
