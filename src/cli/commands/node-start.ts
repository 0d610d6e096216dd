import { RefusalError } from '../../client/refusal-error.ts';
import type { NodeView } from '../../core/node/view.ts';
import { refuse } from '../../core/refusal.ts';
import type { Context, Invocation } from '../context.ts';
import { removeRecord, writeRecord } from '../daemon/daemon-record.ts';
import { readNodeOptions } from '../daemon/node-options.ts';
import { describeMiB } from '../views/size.ts';

/** Serves a node until it is told to end; what runs goes on and is adopted by the next agent. */
export async function execute(context: Context, { options }: Invocation): Promise<number> {
  const wanted = readNodeOptions(options);
  const client = await context.client();
  const name = wanted.name ?? client.nodes.defaultName();
  const ended = untilSignal(context);
  const node = await client.nodes.start(wanted);
  if (node === null) {
    const hint = 'yard down ends it; --name makes another node here';
    throw new RefusalError(refuse('NODE_TAKEN', `another process already serves node ${name}`, { hint }));
  }
  try {
    await writeRecord(context.home, node.name);
    const view = await client.nodes.get(node.name);
    context.output.item(view, () => `${describeNode(view)}  Ctrl-C ends the agent, not its jobs`);
    const fault = await Promise.race([ended, node.failed]);
    if (fault instanceof Error) throw fault;
    const left = node.liveTasks().length;
    if (left > 0) context.output.note(`${left} tasks go on; the next agent adopts them: yard up`);
  } finally {
    await removeRecord(context.home, node.name);
    await node.close();
  }
  return 0;
}

/** `laptop  ready  4 cores  16 GiB  1 GPU`. */
export function describeNode({ id, cpus, memoryMiB, gpus }: NodeView): string {
  return `${id}  ready  ${cpus} ${cpus === 1 ? 'core' : 'cores'}  ${describeMiB(memoryMiB)}  ${gpus.length} ${gpus.length === 1 ? 'GPU' : 'GPUs'}`;
}

function untilSignal(context: Context): Promise<'signal'> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) context.onSignal(signal, () => resolve('signal'));
  });
}
