import type { RunyardClient } from '../../client/api.ts';
import { RefusalError } from '../../client/refusal-error.ts';
import { refuse } from '../../core/refusal.ts';
import { type Context, flagOption, type Invocation } from '../context.ts';
import { waitsForNode } from '../request/no-node.ts';
import { showPreview } from '../request/preview.ts';
import { readRequest } from '../request/read-request.ts';
import { submitRequest } from './run.ts';

/** Submits and prints the id. Something has to be there that will run it. */
export async function execute(context: Context, invocation: Invocation): Promise<number> {
  const request = await readRequest(context, 'submit', invocation);
  const client = await context.client();
  if (flagOption(invocation.options, 'dryRun')) return showPreview(context, client, request);
  const hasNode = await findNode(client);
  const job = await submitRequest(context, client, { request, invocation, onPushed: () => {} });
  context.output.answer(context.output.kind === 'json' ? await job.view() : null, () => job.id);
  if (!hasNode) context.output.note(waitsForNode(client, job.id));
  return 0;
}

/** False where no node runs. A server's come and go without whoever submits; the home's own has to be started here. */
async function findNode(client: RunyardClient): Promise<boolean> {
  if ((await client.nodes.list()).some((node) => node.agentRunning)) return true;
  if (client.server !== null) return false;
  const hint = 'yard up starts one in the background; yard run brings its own';
  throw new RefusalError(refuse('NO_NODE', 'no node is running here', { hint }));
}
