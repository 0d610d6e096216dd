import type { EventFilter, EventView } from '../client/api.ts';
import type { Embedded } from '../client/embedded.ts';
import { type EventPlace, followPlacedEvents } from '../client/events.ts';
import type { SentEvent } from './handler.ts';
import { refused } from './http-refusal.ts';

/** Events, each with its number as id. `1240/1233` says as well where its batch begins, so that it is found at once. */
export function streamEvents(
  embedded: Embedded,
  filter: EventFilter,
  lastEventId: string | null,
): AsyncGenerator<SentEvent<EventView>> {
  return placed(embedded, filter, lastEventId === null ? null : readPlace(lastEventId));
}

async function* placed(
  embedded: Embedded,
  filter: EventFilter,
  after: EventPlace | null,
): AsyncGenerator<SentEvent<EventView>> {
  for await (const { view, place } of followPlacedEvents(embedded, filter, after)) {
    yield { id: `${place.seq}/${place.batchAfter}`, data: view };
  }
}

/** A number alone is good too: then everything before it is looked through. */
function readPlace(id: string): EventPlace {
  const [, seq, batchAfter] = /^(\d{1,15})(?:\/(\d{1,15}))?$/.exec(id) ?? [];
  if (seq !== undefined) return { seq: Number(seq), batchAfter: Number(batchAfter ?? 0) };
  throw refused('BAD_VALUE', 'the Last-Event-ID is none of this stream', { path: 'Last-Event-ID' });
}
