import { type EventEmitter, setMaxListeners } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Principal } from '../core/access/principal.ts';
import { refuse } from '../core/refusal.ts';
import { guardKey } from '../wire/document-guard.ts';
import type { Access, Route } from '../wire/http/route.ts';
import { sendBytes, sendEvents } from './answer.ts';
import type { GivenBytes, GivenText, SentEvent } from './handler.ts';
import { answerOf, type ErrorAnswer, faultAnswer, RefusedForNow, refusalOf, refused } from './http-refusal.ts';
import { holdsToken } from './presented-token.ts';
import { readShape } from './read-shape.ts';
import { readBody } from './request-body.ts';
import type { ServerParts } from './server-parts.ts';
import { whoAsks, whyNoLonger } from './who-asks.ts';

export type Bound = Context<{ Bindings: HttpBindings }>;

/** A handler whose route it alone knows; the table has made sure that the two fit. */
export type AnyHandler = (asked: never) => Promise<unknown>;

export interface NamedRoute {
  readonly name: string;
  readonly route: Route;
  readonly handler: AnyHandler;
}

/** One request of a route: who asks, what for, and the answer in the form that the table promises. */
export async function serveRoute(server: ServerParts, named: NamedRoute, context: Bound): Promise<Response> {
  const { incoming, outgoing } = context.env;
  const { name, route, handler } = named;
  const ending = endingOf(outgoing, server.stopping);
  try {
    const actor = await admit(server, incoming, { name, access: route.access });
    const key = readIdempotencyKey(incoming);
    const asked = {
      params: context.req.param(),
      query: readQuery(route, new URL(context.req.url).searchParams),
      body: await readBody(incoming, route, server.settings.limits.bodyMs),
      headers: incoming.headers,
      actor,
      embedded: {
        ...server.embedded,
        actor,
        ...(key === null ? {} : { idempotencyKey: `${actor.kind} ${actor.name} ${key}` }),
      },
      server,
      signal: ending.signal,
      lastEventId: readLastEventId(incoming),
    };
    const given = await handler(asked as never);
    return await sendAnswer(server, route, { context, given, ending, actor });
  } catch (error) {
    return sendError(server, context, error);
  } finally {
    ending.forget();
  }
}

/** Lets a request in, or throws why not. */
export async function admit(
  server: ServerParts,
  incoming: IncomingMessage,
  { name, access }: { name: string; access: Access },
): Promise<Principal> {
  const note = server.notes.of(incoming);
  note.route = name;
  if (server.stopping.aborted) throw stopping();
  server.hosts.check(incoming);
  if (holdsToken(incoming.url ?? '')) {
    throw refused('BAD_REQUEST', 'there is a token in the address of this request, where others may see it', {
      hint: 'make another and revoke this one; a token belongs into the header Authorization: Bearer …',
    });
  }
  const actor = await whoAsks(server, incoming, access);
  if (access !== 'public') note.actor = actor;
  return actor;
}

/** After so many seconds another server may have taken over. */
const restartSeconds = 1;

function stopping(): Error {
  const refusal = refuse('STOPPING', 'the server is about to end and takes no more requests', {
    hint: 'try again once it has started anew',
  });
  return new RefusedForNow(refusal, restartSeconds);
}

async function sendAnswer(
  server: ServerParts,
  { answer }: Route,
  { context, given, ending, actor }: { context: Bound; given: unknown; ending: Ending; actor: Principal },
): Promise<Response> {
  const { outgoing, incoming } = context.env;
  const { signal, end } = ending;
  switch (answer.kind) {
    case 'json':
      return context.json(given as object);
    case 'none':
      return context.body(null, 204);
    case 'text': {
      const { text, contentType } = given as GivenText;
      return context.body(text, 200, { 'content-type': contentType });
    }
    case 'bytes':
      await sendBytes(outgoing, given as GivenBytes, signal);
      return RESPONSE_ALREADY_SENT;
    case 'events': {
      await sendEvents(outgoing, given as AsyncIterable<SentEvent<unknown>>, {
        keepAliveMs: server.settings.limits.keepAliveMs,
        signal,
        end,
        onError: (error) => answerError(server, incoming, error),
        whyOver: () => whyNoLonger(server, actor),
      });
      return RESPONSE_ALREADY_SENT;
    }
    case 'socket':
      throw refused('WRONG_METHOD', 'this path becomes a WebSocket', { hint: 'ask for an upgrade' });
  }
}

/** An answer that has begun can only be cut. */
export function sendError(server: ServerParts, context: Bound, error: unknown): Response {
  const { incoming, outgoing } = context.env;
  const { status, body } = answerError(server, incoming, error);
  if (outgoing.headersSent || outgoing.destroyed) {
    outgoing.destroy();
    return RESPONSE_ALREADY_SENT;
  }
  const headers: Record<string, string> = { 'cache-control': 'no-store' };
  if (error instanceof RefusedForNow) headers['retry-after'] = String(error.seconds);
  if (status === 401) headers['www-authenticate'] = 'Bearer';
  // What is left of the body is not read.
  if (!incoming.complete) headers.connection = 'close';
  return context.json(body, status as ContentfulStatusCode, headers);
}

/** What is no refusal is a fault: logged with its cause, answered with an id. */
export function answerError(server: ServerParts, incoming: IncomingMessage, error: unknown): ErrorAnswer {
  const refusal = refusalOf(error);
  const note = server.notes.of(incoming);
  if (refusal !== null) {
    note.code = refusal.code;
    return answerOf(refusal);
  }
  note.code = 'INTERNAL';
  if (incoming.destroyed && !incoming.complete) return answerOf(refuse('BAD_REQUEST', 'the request broke off'));
  const fault = Buffer.from(server.embedded.host.chance.bytes(8)).toString('hex');
  server.log.error({ fault, route: note.route, err: error }, 'a request failed');
  return faultAnswer(fault);
}

/** When a request is over: who asked is gone, the server stops, or somebody says so. */
interface Ending {
  readonly signal: AbortSignal;
  readonly end: () => void;
  readonly forget: () => void;
}

export function endingOf(connection: EventEmitter, stopping: AbortSignal): Ending {
  const controller = new AbortController();
  // Each log of a stream listens to it.
  setMaxListeners(0, controller.signal);
  const end = (): void => controller.abort();
  connection.once('close', end);
  stopping.addEventListener('abort', end);
  if (stopping.aborted) end();
  return { signal: controller.signal, end, forget: () => stopping.removeEventListener('abort', end) };
}

/** The query through the route's schema; a key that it does not know is refused. */
export function readQuery(route: Route, search: URLSearchParams): unknown {
  const query: Record<string, string> = Object.create(null);
  for (const [key, value] of search) {
    guardKey(key, ['query']);
    if (key in query) throw refused('BAD_VALUE', `${key} stands twice in the query`, { path: `query.${key}` });
    query[key] = value;
  }
  if (route.query !== undefined) return readShape(route.query, query, 'query');
  const [unknown] = Object.keys(query);
  if (unknown === undefined) return {};
  throw refused('UNKNOWN_KEY', `unknown key ${JSON.stringify(unknown.slice(0, 100))} in the query`, {
    path: `query.${unknown.slice(0, 100)}`,
  });
}

function readIdempotencyKey({ method, headers }: IncomingMessage): string | null {
  const key = headers['idempotency-key'];
  if (method === 'GET' || key === undefined) return null;
  if (typeof key === 'string' && /^[\x21-\x7e]{1,200}$/.test(key)) return key;
  throw refused('BAD_VALUE', 'the Idempotency-Key is not 1 to 200 printable characters without a space', {
    path: 'Idempotency-Key',
  });
}

function readLastEventId({ headers }: IncomingMessage): string | null {
  const id = headers['last-event-id'];
  return typeof id === 'string' && id !== '' ? id : null;
}
