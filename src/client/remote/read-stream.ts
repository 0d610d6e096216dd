import { createStreamReader, type StreamEvent } from '../../wire/http/event-stream.ts';
import type { AnswerOf } from '../../wire/http/route.ts';
import { type RouteName, type Routes, routes } from '../../wire/http/routes.ts';
import { parseJson, readAnswer, readRefusal } from './answers.ts';
import { askPatiently, type Http } from './http.ts';
import type { Request } from './outgoing.ts';
import type { Incoming } from './transport.ts';

/** The routes that answer with a stream of events. */
export type StreamName = {
  [Name in RouteName]: Routes[Name]['answer'] extends { readonly kind: 'events' } ? Name : never;
}[RouteName];

/**
 * What a stream carries, through cuts and restarts of the server: it goes on behind the last event that arrived, so that
 * nothing is lost or comes twice. Ends with the stream, or when the signal aborts. With `endless` a server that is away
 * is waited for until then.
 */
export async function* readStream<Name extends StreamName>(
  http: Http,
  name: Name,
  request: Request<Name>,
): AsyncGenerator<AnswerOf<Routes[Name]>> {
  const { signal } = request;
  const { schema } = routes[name].answer;
  let lastEventId: string | null = null;
  let outage = http.patience.begin({ endless: request.endless ?? false, signal });
  while (signal?.aborted !== true) {
    try {
      const incoming = await askPatiently({ http }, request, () => http.open(name, { ...request, lastEventId }));
      for await (const { kind, id, data } of eventsOf(incoming)) {
        if (kind === 'end') return;
        if (kind === 'error') throw readRefusal(500, data, { place: http.place, what: name });
        yield readAnswer(schema, parseJson(data), `${http.place} ${name}`) as AnswerOf<Routes[Name]>;
        lastEventId = id ?? lastEventId;
        outage = http.patience.begin({ endless: request.endless ?? false, signal });
      }
    } catch (error) {
      if (isAborted(signal)) return;
      const why = http.whyFailed(error);
      if (!why.passes || !(await outage.wait(why.error))) {
        if (isAborted(signal)) return;
        throw why.error;
      }
    }
  }
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

/** The events of one answer. Throws what cut it, as ending without an `end` does. */
async function* eventsOf({ body }: Incoming): AsyncGenerator<StreamEvent> {
  const read = createStreamReader();
  const decoder = new TextDecoder();
  try {
    for await (const part of body as AsyncIterable<Uint8Array>) yield* read(decoder.decode(part, { stream: true }));
  } finally {
    body.destroy();
  }
  throw Object.assign(new Error('the stream broke off'), { code: 'ECONNRESET' });
}
