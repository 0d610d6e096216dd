import type { Context, Invocation } from '../context.ts';

/** New work for the node again. */
export async function execute(context: Context, { args }: Invocation): Promise<number> {
  const [name = ''] = args;
  const client = await context.client();
  await client.nodes.resume(name);
  const node = await client.nodes.get(name);
  context.output.answer(node, () => `${name}  ${node.state}`);
  return 0;
}
