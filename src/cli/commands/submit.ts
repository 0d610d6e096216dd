import type { RunyardClient } from '../../client/api.ts';
import { RefusalError } from '../../client/refusal-error.ts';
import { refuse } from '../../core/refusal.ts';
import { type Context, flagOption, type Invocation } from '../context.ts';
import { showPreview } from '../request/preview.ts';
import { readRequest } from '../request/read-request.ts';
import { submitRequest } from './run.ts';

/** Submits and prints the id. Something has to be there that will run it. */
export async function execute(context: Context, invocation: Invocation): Promise<number> {
  const request = await readRequest(context, 'submit', invocation);
  const client = await context.client();
  if (flagOption(invocation.options, 'dryRun')) return showPreview(context, client, request.submission);
  await requireNode(client);
  const job = await submitRequest(context, client, { request, invocation, onPushed: () => {} });
  context.output.answer(context.output.kind === 'json' ? await job.view() : null, () => job.id);
  return 0;
}

async function requireNode(client: RunyardClient): Promise<void> {
  const nodes = await client.nodes.list();
  if (nodes.some((node) => node.agentRunning)) return;
  const hint = 'yard up starts one in the background; yard run brings its own';
  throw new RefusalError(refuse('NO_NODE', 'no node is running here', { hint }));
}
