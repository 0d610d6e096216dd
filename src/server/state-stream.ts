import type { SentEvent } from './handler.ts';

/** A stream of what is now: whoever comes back gets the state again, so that there is no place to go on from. */
export async function* statesOf<View>(views: AsyncIterable<View>): AsyncGenerator<SentEvent<View>> {
  for await (const data of views) yield { id: null, data };
}
