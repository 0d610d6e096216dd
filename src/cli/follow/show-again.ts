import type { RunyardClient } from '../../client/api.ts';
import { createSignalBox } from '../../client/signal-box.ts';
import type { Context } from '../context.ts';

/** Ages grow without a fact. */
export const lookAgainMs = 1000;

/** Shows something now, again after whatever happened, and each second where it is seen in place; until Ctrl-C. */
export async function showAgain(context: Context, client: RunyardClient, show: () => Promise<void>): Promise<number> {
  const end = new AbortController();
  const box = createSignalBox(end.signal);
  const release = context.onSignal('SIGINT', () => end.abort());
  const timer = context.output.inPlace ? setInterval(box.ring, lookAgainMs) : null;
  try {
    const seen = await lastSeq(client);
    await show();
    const happened = ringOnEvents(client, { seen, signal: end.signal, ring: box.ring }).then(() => end.abort());
    // What ends it is met where it is waited for, unless showing fails before.
    happened.catch(() => {});
    while (!end.signal.aborted) {
      // Whatever came while it was shown is in the next one.
      await Promise.race([box.wait(), happened]);
      if (!end.signal.aborted) await show();
    }
    await happened;
  } finally {
    end.abort();
    if (timer !== null) clearInterval(timer);
    context.output.frame(null);
    release();
  }
  return 0;
}

async function lastSeq(client: RunyardClient): Promise<number> {
  let last = 0;
  for await (const { seq } of client.events()) last = seq;
  return last;
}

async function ringOnEvents(
  client: RunyardClient,
  { seen, signal, ring }: { readonly seen: number; readonly signal: AbortSignal; readonly ring: () => void },
): Promise<void> {
  for await (const { seq } of client.events({ follow: true, signal })) if (seq > seen) ring();
}
