import type { EventView } from '../../client/api.ts';
import { type Context, flagOption, type Invocation } from '../context.ts';
import { neutralise } from '../output/escapes.ts';

/** Everything that happened, one line each, oldest first. */
export async function execute(context: Context, { args, options }: Invocation): Promise<number> {
  const client = await context.client();
  const [reference] = args;
  const job = reference === undefined ? undefined : (await client.jobs.get(reference)).id;
  const end = new AbortController();
  const release = context.onSignal('SIGINT', () => end.abort());
  try {
    const follow = flagOption(options, 'follow');
    for await (const event of client.events({ follow, signal: end.signal, ...(job === undefined ? {} : { job }) })) {
      context.output.item(event, () => eventLine(event));
    }
  } finally {
    release();
  }
  return 0;
}

export function eventLine({ seq, at, kind, job, node, message }: EventView): string {
  const subject = job ?? node ?? '';
  return neutralise(
    `${String(seq).padStart(6)}  ${at}  ${kind.padEnd(21)}  ${subject.padEnd(14)}  ${message}`.trimEnd(),
  );
}
