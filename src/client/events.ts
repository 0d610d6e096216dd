import { actorOf } from '../core/access/audit.ts';
import { describeFact, type FactSubject, factSubject } from '../core/describe.ts';
import type { Fact } from '../core/fact.ts';
import type { State } from '../core/state.ts';
import type { Batch } from '../log/fact-log.ts';
import { readKept } from '../log/read-kept.ts';
import type { EventFilter, EventView } from './api.ts';
import type { Embedded } from './embedded.ts';
import { createSignalBox } from './signal-box.ts';
import { VisibleFacts } from './visible-facts.ts';

/** The log as people and scripts read it: what is kept of it first, then what is added. */
export async function* followEvents(embedded: Embedded, options: EventFilter): AsyncGenerator<EventView> {
  for await (const { view } of followPlacedEvents(embedded, options, null)) yield view;
}

/** A place in the log: behind fact `seq` of the batch that follows fact `batchAfter`. */
export interface EventPlace {
  readonly seq: number;
  readonly batchAfter: number;
}

/** The same, each with its place, and only what lies behind one. */
export async function* followPlacedEvents(
  embedded: Embedded,
  options: EventFilter,
  after: EventPlace | null,
): AsyncGenerator<{ readonly view: EventView; readonly place: EventPlace }> {
  const { plane } = embedded;
  const box = createSignalBox(options.signal);
  const isWanted = filterOf(plane.state, options);
  const visible = new VisibleFacts(embedded);
  const end = plane.subscribe(box.ring, box.close);
  try {
    // Which jobs were a service's is known by facts from before.
    let seq = options.service === undefined ? (after?.batchAfter ?? 0) : 0;
    for (;;) {
      const batches = await readKept(plane.log, seq, 500);
      for (const batch of batches) {
        for await (const view of viewBatch(batch, isWanted, visible)) {
          if (view.seq > (after?.seq ?? 0)) yield { view, place: { seq: view.seq, batchAfter: batch.seq - 1 } };
        }
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

type Wanted = (fact: Fact, subject: FactSubject) => boolean;

function filterOf(state: State, { job, service, audit }: EventFilter): Wanted {
  const isAbout = subjectFilter(state, job, service);
  return (fact, subject) => isAbout(fact, subject) && (audit !== true || actorOf(fact) !== null);
}

/** A service's events are those of its replicas too, which are known by the fact that submitted them. */
function subjectFilter(state: State, job: string | undefined, service: string | undefined): Wanted {
  if (job !== undefined) return (_fact, subject) => subject.job === job;
  if (service === undefined) return () => true;
  const replicas = new Set(state.services.get(service)?.replicas.keys() ?? []);
  return (fact, subject) => {
    if (fact.kind === 'JobSubmitted' && fact.service?.name === service) replicas.add(fact.job);
    return subject.service === service || (subject.job !== null && replicas.has(subject.job));
  };
}

async function* viewBatch(batch: Batch<Fact>, isWanted: Wanted, visible: VisibleFacts): AsyncGenerator<EventView> {
  const at = new Date(batch.atMs).toISOString();
  for (const [position, fact] of batch.facts.entries()) {
    const subject = factSubject(fact);
    visible.learn(fact);
    if (!isWanted(fact, subject) || !(await visible.shows(fact, subject))) continue;
    const message = describeFact(fact);
    yield { seq: batch.seq + position, at, kind: fact.kind, by: actorOf(fact), ...subject, message, fact };
  }
}
