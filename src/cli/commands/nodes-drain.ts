import { type Context, type Invocation, textOption } from '../context.ts';

/** No new work for the node; what runs goes on. */
export async function execute(context: Context, { args, options }: Invocation): Promise<number> {
  const [name = ''] = args;
  const reason = textOption(options, 'reason');
  const client = await context.client();
  await client.nodes.drain(name, reason === undefined ? {} : { reason });
  const node = await client.nodes.get(name);
  const left = node.tasks.length === 0 ? 'nothing runs on it' : `${node.tasks.length} still on it`;
  context.output.answer(node, () => `${name}  ${node.state}  ${left}`);
  return 0;
}
