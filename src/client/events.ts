import { describeFact, type FactSubject, factSubject } from '../core/describe.ts';
import type { Fact } from '../core/fact.ts';
import type { State } from '../core/state.ts';
import type { Batch } from '../log/fact-log.ts';
import type { EventView } from './api.ts';
import type { Embedded } from './embedded.ts';
import { createSignalBox } from './signal-box.ts';

/** The log as people and scripts read it: what is kept of it first, then what is added. */
export async function* followEvents(
  { plane }: Embedded,
  options: { job?: string; service?: string; follow?: boolean; signal?: AbortSignal },
): AsyncGenerator<EventView> {
  const box = createSignalBox(options.signal);
  const isWanted = filterOf(plane.state, options);
  const end = plane.subscribe(() => box.ring());
  try {
    let seq = 0;
    for (;;) {
      const batches = await plane.log.readAfter(seq, 500);
      for (const batch of batches) {
        yield* viewBatch(batch, isWanted);
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

/** A service's events are those of its replicas too, which are known by the fact that submitted them. */
function filterOf(
  state: State,
  { job, service }: { job?: string; service?: string },
): (fact: Fact, subject: FactSubject) => boolean {
  if (job !== undefined) return (_fact, subject) => subject.job === job;
  if (service === undefined) return () => true;
  const replicas = new Set(state.services.get(service)?.replicas.keys() ?? []);
  return (fact, subject) => {
    if (fact.kind === 'JobSubmitted' && fact.service?.name === service) replicas.add(fact.job);
    return subject.service === service || (subject.job !== null && replicas.has(subject.job));
  };
}

function* viewBatch(batch: Batch<Fact>, isWanted: (fact: Fact, subject: FactSubject) => boolean): Generator<EventView> {
  const at = new Date(batch.atMs).toISOString();
  for (const [position, fact] of batch.facts.entries()) {
    const subject = factSubject(fact);
    if (!isWanted(fact, subject)) continue;
    yield { seq: batch.seq + position, at, kind: fact.kind, ...subject, message: describeFact(fact), fact };
  }
}
