import type { Readable } from 'node:stream';
import type * as z from 'zod';
import type { Host } from '../../host/host.ts';
import type { ParamsOf, QueryOf, Route } from '../../wire/http/route.ts';
import { type RouteName, type Routes, routes } from '../../wire/http/routes.ts';
import type { Fingerprint } from './fingerprint.ts';
import type { Outgoing } from './transport.ts';

export interface ServerAddress {
  /** `https://host:port`. */
  readonly url: string;
  /** Of the certificate that is trusted; null where those that this machine trusts may sign it. */
  readonly fingerprint: Fingerprint | null;
  readonly token: string | null;
}

/** What talking to a server needs of the outside. */
export type HttpHost = Pick<Host, 'clock' | 'timers' | 'chance'>;

type ParamsPart<R extends Route> = [ParamsOf<R['path']>] extends [never]
  ? { readonly params?: undefined }
  : { readonly params: Readonly<Record<ParamsOf<R['path']>, string>> };
type BodyPart<R extends Route> = R extends { readonly body: infer Body }
  ? { readonly body: Body extends z.ZodType ? z.input<Body> : Uint8Array | SentStream }
  : { readonly body?: undefined };

/** Bytes of known length that can be sent again from their beginning. */
export interface SentStream {
  readonly sizeBytes: number;
  open(): Readable;
}

/** What a route is asked with, by the table. */
export type Request<Name extends RouteName> = ParamsPart<Routes[Name]> &
  BodyPart<Routes[Name]> & {
    readonly query?: Partial<QueryOf<Routes[Name]>>;
    readonly signal?: AbortSignal | undefined;
    /** One for each thing that is meant to be done once; drawn where it is absent. */
    readonly idempotencyKey?: string | undefined;
    /** The last event that arrived of a stream. */
    readonly lastEventId?: string | null;
    /** Of bytes that came in part: what is wanted begins here. */
    readonly rangeFromBytes?: number;
    /** Goes on asking until its signal aborts. */
    readonly endless?: boolean;
  };

/** The server sends a comment every 15 s on a stream that has nothing to say. */
const idleMs = { json: 60_000, none: 60_000, text: 60_000, bytes: 60_000, events: 45_000, socket: 60_000 } as const;
/** After the last byte the server writes it all to its disk. */
const uploadIdleMs = 2 * 60_000;

export function outgoingOf<Name extends RouteName>(
  { address, host }: { readonly address: ServerAddress; readonly host: HttpHost },
  name: Name,
  request: Request<Name>,
): Outgoing {
  const route: Route = routes[name];
  const { token } = address;
  const { body, signal, lastEventId = null, rangeFromBytes = 0 } = request;
  const isBytes = route.body !== undefined && 'bytes' in route.body;
  const headers = {
    accept: route.answer.kind === 'events' ? 'text/event-stream' : '*/*',
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    ...(route.method === 'GET' ? {} : { 'idempotency-key': request.idempotencyKey ?? drawKey(host) }),
    ...(rangeFromBytes === 0 ? {} : { range: `bytes=${rangeFromBytes}-` }),
    ...(lastEventId === null ? {} : { 'last-event-id': lastEventId }),
    ...(body === undefined ? {} : { 'content-type': isBytes ? 'application/octet-stream' : 'application/json' }),
  };
  const path = pathOf(route.path, request.params ?? {}) + queryOf((request.query ?? {}) as QueryValues);
  const idle = isBytes ? uploadIdleMs : idleMs[route.answer.kind];
  const isFollowed = route.answer.kind === 'events';
  return { method: route.method, path, isFollowed, idleMs: idle, signal, ...bodyOf(body, isBytes, headers) };
}

function bodyOf(
  body: unknown,
  isBytes: boolean,
  headers: Readonly<Record<string, string>>,
): Pick<Outgoing, 'body' | 'headers'> {
  if (body === undefined) return { body: null, headers };
  if (!isBytes) return { body: new TextEncoder().encode(JSON.stringify(body)), headers };
  if (body instanceof Uint8Array) return { body, headers };
  const stream = body as SentStream;
  return { body: stream.open(), headers: { ...headers, 'content-length': String(stream.sizeBytes) } };
}

export function pathOf(template: string, params: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
}

/** What the schemas of queries put out. */
type QueryValues = Readonly<Record<string, string | number | boolean | undefined>>;

export function queryOf(query: QueryValues): string {
  const given = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined) given.append(key, String(value));
  const text = given.toString();
  return text === '' ? '' : `?${text}`;
}

/** For what is meant to be done once. */
export function drawKey({ chance }: Pick<Host, 'chance'>): string {
  return Buffer.from(chance.bytes(16)).toString('hex');
}
