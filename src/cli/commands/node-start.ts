import type { NodeOptions, RunningNode } from '../../client/api.ts';
import { RefusalError } from '../../client/refusal-error.ts';
import { type RefusalCode, refuse } from '../../core/refusal.ts';
import type { Context, Invocation, Options } from '../context.ts';
import { removeRecord, writeRecord } from '../daemon/daemon-record.ts';
import { readNodeOptions } from '../daemon/node-options.ts';
import { type NodePlace, nodePlaceOf, type PlacedView, startPlaced, viewPlaced } from '../daemon/node-place.ts';
import { notAgain } from '../exit-code.ts';
import { reportOf } from '../report-error.ts';
import { describeMiB } from '../views/size.ts';

/** Serves a node until it is told to end; what runs goes on and is adopted by the next agent. */
export async function execute(context: Context, { options }: Invocation): Promise<number> {
  const wanted = readNodeOptions(options);
  const place = await nodePlaceOf(context, options);
  const ended = untilSignal(context);
  try {
    return await serve(context, place, { wanted, options, ended });
  } catch (error) {
    if (!(error instanceof RefusalError) || error instanceof ServedHere || !isForGood.has(error.code)) throw error;
    context.output.error(reportOf(error, context.home));
    return notAgain;
  }
}

async function serve(
  context: Context,
  place: NodePlace,
  { wanted, options, ended }: { wanted: NodeOptions; options: Options; ended: Promise<'signal'> },
): Promise<number> {
  const node = await startUntil(ended, (signal) =>
    startPlaced(context, place, { wanted: { ...wanted, signal }, options }),
  );
  if (node === 'ended') return 0;
  if (node === null) {
    const hint = 'yard down ends it; --name makes another node here';
    throw new ServedHere(refuse('NODE_TAKEN', `another process already serves node ${place.name}`, { hint }));
  }
  try {
    // Before the record: with that the node is ready, and whoever waits for it reads what was said until then.
    if (node.gpuProblem !== null) context.output.note(`${gpuTrouble}${node.gpuProblem}`);
    await writeRecord(context.home, node.name);
    const view = await viewPlaced(context, place);
    const where = place.server === null ? '' : `  of ${place.server.url}`;
    context.output.item(view, () => `${describeNode(view)}${where}  Ctrl-C ends the agent, not its jobs`);
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

/** Whoever is told to end while it waits for its server ends at once. */
async function startUntil(
  ended: Promise<'signal'>,
  start: (signal: AbortSignal) => Promise<RunningNode | null>,
): Promise<RunningNode | null | 'ended'> {
  const enough = new AbortController();
  let isOver = false;
  void ended.then(() => {
    if (!isOver) enough.abort('told to end');
  });
  try {
    return await start(enough.signal);
  } catch (error) {
    if (enough.signal.aborted) return 'ended';
    throw error;
  } finally {
    isOver = true;
  }
}

/** How the agent begins to say that it found no GPU where there may be some; `yard up` says it as well. */
export const gpuTrouble = 'no GPU is offered: ';

/** Refusals that coming again does not change: whoever keeps the agent running must not start it again. */
const isForGood: ReadonlySet<RefusalCode> = new Set<RefusalCode>([
  'STALE_ATTEMPT',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'NOT_ASSIGNED',
  'INCOMPATIBLE',
  'UNTRUSTED',
  'BAD_VALUE',
  'BAD_NAME',
  'MISSING_KEY',
  'NODE_TAKEN',
  'PRIVILEGE',
]);

/** By another process of this machine, which may end: unlike a name that the server gave to another machine. */
class ServedHere extends RefusalError {}

/** `laptop  ready  4 cores  16 GiB  1 GPU`. */
export function describeNode({ id, cpus, memoryMiB, gpus }: PlacedView): string {
  return `${id}  ready  ${cpus} ${cpus === 1 ? 'core' : 'cores'}  ${describeMiB(memoryMiB)}  ${gpus.length} ${gpus.length === 1 ? 'GPU' : 'GPUs'}`;
}

function untilSignal(context: Context): Promise<'signal'> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) context.onSignal(signal, () => resolve('signal'));
  });
}
