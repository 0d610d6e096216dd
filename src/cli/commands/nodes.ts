import type { Context, Invocation } from '../context.ts';
import { nodeInFull, nodesTable } from '../views/nodes-table.ts';

/** Lists nodes, or shows one in full. */
export async function execute(context: Context, { args }: Invocation): Promise<number> {
  const client = await context.client();
  const [name] = args;
  if (name !== undefined) {
    const node = await client.nodes.get(name);
    context.output.answer(node, () => nodeInFull(node, Date.now()));
    return 0;
  }
  const nodes = await client.nodes.list();
  context.output.answer(nodes, (width) =>
    nodes.length === 0 ? 'no nodes (yard up starts one here)' : nodesTable(nodes, Date.now(), width),
  );
  return 0;
}
