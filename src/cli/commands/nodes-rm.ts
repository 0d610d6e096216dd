import type { Context, Invocation } from '../context.ts';

/** Forgets a node that is gone. */
export async function execute(context: Context, { args }: Invocation): Promise<number> {
  const [name = ''] = args;
  await (await context.client()).nodes.remove(name);
  context.output.answer({ id: name, removed: true }, () => `${name}  removed`);
  return 0;
}
