import type { RunyardClient } from '../../client/api.ts';
import type { Context, Invocation } from '../context.ts';

/** Forgets a node that is gone. One that is only silent is declared lost first, and stays on the list as that. */
export async function execute(context: Context, { args }: Invocation): Promise<number> {
  const [name = ''] = args;
  const client = await context.client();
  await client.nodes.remove(name);
  const removed = !(await isListed(client, name));
  context.output.answer({ id: name, removed }, () => `${name}  ${removed ? 'removed' : 'LOST'}`);
  if (!removed) {
    context.output.note(
      `${name} counts as lost: its work goes on elsewhere where that may be\n  forget it, and all that may still run there: yard nodes rm ${name}`,
    );
  }
  return 0;
}

async function isListed(client: RunyardClient, name: string): Promise<boolean> {
  return (await client.nodes.list()).some(({ id }) => id === name);
}
