import { describeFact, factSubject } from '../core/describe.ts';
import type { Fact } from '../core/fact.ts';
import type { Batch } from '../log/fact-log.ts';
import type { EventView } from './api.ts';
import type { Embedded } from './embedded.ts';
import { createSignalBox } from './signal-box.ts';

/** The log as people and scripts read it: what is kept of it first, then what is added. */
export async function* followEvents(
  { plane }: Embedded,
  options: { job?: string; follow?: boolean; signal?: AbortSignal },
): AsyncGenerator<EventView> {
  const box = createSignalBox(options.signal);
  const end = plane.subscribe(() => box.ring());
  try {
    let seq = 0;
    for (;;) {
      const batches = await plane.log.readAfter(seq, 500);
      for (const batch of batches) {
        yield* viewBatch(batch, options.job ?? null);
        seq = batch.seq + batch.facts.length - 1;
      }
      if (batches.length > 0) continue;
      if (!options.follow || box.isEnded()) return;
      await box.wait();
    }
  } finally {
    end();
  }
}

function* viewBatch(batch: Batch<Fact>, job: string | null): Generator<EventView> {
  const at = new Date(batch.atMs).toISOString();
  for (const [position, fact] of batch.facts.entries()) {
    const subject = factSubject(fact);
    if (job !== null && subject.job !== job) continue;
    yield { seq: batch.seq + position, at, kind: fact.kind, ...subject, message: describeFact(fact), fact };
  }
}
