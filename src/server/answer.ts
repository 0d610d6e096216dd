import type { ServerResponse } from 'node:http';
import { keepAliveComment, writeStreamEvent } from '../wire/http/event-stream.ts';
import type { GivenBytes, SentEvent } from './handler.ts';
import type { ErrorAnswer } from './http-refusal.ts';

/** Answers that are written piece by piece: each waits until the one before was taken, and ends when its reader is gone. */

export interface EventSending {
  readonly keepAliveMs: number;
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => ErrorAnswer;
  /** Looked at now and then: why the reader may read no further, such as a token that was revoked meanwhile. */
  readonly whyOver: () => Error | null;
  /** Aborts the signal. */
  readonly end: () => void;
}

/** `event: end` after the last one says that the stream is complete; one that is cut by a stop says nothing. */
export async function sendEvents(
  response: ServerResponse,
  events: AsyncIterable<SentEvent<unknown>>,
  how: EventSending,
): Promise<void> {
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    // Proxies that collect answers would hold events back.
    'x-accel-buffering': 'no',
  });
  response.flushHeaders();
  const fail = (error: unknown): void => {
    const { body } = how.onError(error);
    response.write(writeStreamEvent({ kind: 'error', id: null, data: JSON.stringify(body) }));
  };
  const keepAlive = setInterval(() => {
    const over = how.whyOver();
    if (over !== null) {
      fail(over);
      how.end();
    } else if (!response.writableNeedDrain) response.write(keepAliveComment);
  }, how.keepAliveMs);
  try {
    for await (const { id, data } of events) {
      if (how.signal.aborted) return;
      await write(response, writeStreamEvent({ kind: 'piece', id, data: JSON.stringify(data) }), how.signal);
    }
    if (!how.signal.aborted) response.write(writeStreamEvent({ kind: 'end', id: null, data: '{}' }));
  } catch (error) {
    if (!how.signal.aborted) fail(error);
  } finally {
    clearInterval(keepAlive);
    response.end();
  }
}

/** A transfer that fails half-way is cut, so that nobody takes a part for the whole. */
export async function sendBytes(response: ServerResponse, given: GivenBytes, signal: AbortSignal): Promise<void> {
  const { sizeBytes, fromBytes } = given;
  const range = `bytes ${fromBytes ?? 0}-${sizeBytes - 1}/${sizeBytes}`;
  response.writeHead(fromBytes === undefined ? 200 : 206, {
    'content-type': 'application/octet-stream',
    'cache-control': 'no-store',
    'content-length': sizeBytes - (fromBytes ?? 0),
    ...(fromBytes === undefined ? {} : { 'content-range': range }),
  });
  try {
    for await (const part of given.bytes) {
      if (signal.aborted) break;
      await write(response, part, signal);
    }
    response.end();
  } catch (error) {
    response.destroy();
    throw error;
  }
}

/** Resolves when there is room for more, or nobody reads any more. */
function write(response: ServerResponse, part: string | Uint8Array, signal: AbortSignal): Promise<void> {
  if (response.write(part) || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const finish = (): void => {
      response.off('drain', finish);
      response.off('close', finish);
      signal.removeEventListener('abort', finish);
      resolve();
    };
    response.on('drain', finish);
    response.on('close', finish);
    signal.addEventListener('abort', finish);
  });
}
