import type { Readable } from 'node:stream';
import type * as z from 'zod';
import type { Host } from '../../host/host.ts';
import type { AnswerOf, ParamsOf, QueryOf, Route } from '../../wire/http/route.ts';
import { type RouteName, type Routes, routes } from '../../wire/http/routes.ts';
import type { RefusalError } from '../refusal-error.ts';
import { parseJson, readAnswer, readRefusal } from './answers.ts';
import type { Fingerprint } from './fingerprint.ts';
import { networkFaultOf, placeOf } from './network-fault.ts';
import { createPatience, type Patience } from './patience.ts';
import { refuseOldServer } from './server-version.ts';
import { createTransport, type Incoming, type Outgoing, readText, type Transport } from './transport.ts';

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

/** A server, asked by the names of its routes. Refusals and what is wrong with the network are thrown as RefusalError. */
export interface Http {
  readonly address: ServerAddress;
  readonly place: string;
  readonly patience: Patience;
  /** Asks again while the network or the server is away; the key sees to it that nothing happens twice. */
  call<Name extends RouteName>(name: Name, request: Request<Name>): Promise<AnswerOf<Routes[Name]>>;
  /** One try: the answer's body as a stream, which the caller reads or destroys. Throws what `whyFailed` explains. */
  open<Name extends RouteName>(name: Name, request: Request<Name>): Promise<Incoming>;
  /** The refusal behind an error of `open`, or of reading its body; and whether asking again may help. */
  whyFailed(error: unknown): { readonly error: RefusalError; readonly passes: boolean };
  close(): void;
}

/** The server sends a comment every 15 s on a stream that has nothing to say. */
const idleMs = { json: 60_000, none: 60_000, text: 60_000, bytes: 60_000, events: 45_000, socket: 60_000 } as const;
/** After the last byte the server writes it all to its disk. */
const uploadIdleMs = 2 * 60_000;

export function createHttp(
  address: ServerAddress,
  host: HttpHost,
  options: { readonly onNote?: (message: string) => void; readonly transport?: Transport } = {},
): Http {
  const transport = options.transport ?? createTransport(address.url, address.fingerprint);
  const patience = createPatience(host, options.onNote ?? (() => {}));
  const http: Http = {
    address,
    place: placeOf(address.url),
    patience,
    call: (name, request) => callRoute({ http, host }, name, request),
    async open(name, request) {
      const incoming = await transport.send(outgoingOf({ http, host }, name, request));
      if (incoming.status < 300) {
        patience.answered();
        return incoming;
      }
      const text = await readText(incoming);
      throw new Refused(name, incoming, text);
    },
    whyFailed: (error) => networkFaultOf(error, address.url),
    close() {
      patience.close();
      transport.close();
    },
  };
  return http;
}

interface Parts {
  readonly http: Http;
  readonly host: HttpHost;
}

/** A request that was answered, and not with what was asked for. */
class Refused extends Error {
  readonly route: RouteName;
  readonly incoming: Incoming;
  readonly text: string;
  constructor(route: RouteName, incoming: Incoming, text: string) {
    super(`${route} was answered with ${incoming.status}`);
    this.route = route;
    this.incoming = incoming;
    this.text = text;
  }
}

async function callRoute<Name extends RouteName>(
  parts: Parts,
  name: Name,
  request: Request<Name>,
): Promise<AnswerOf<Routes[Name]>> {
  const { answer }: Route = routes[name];
  const once = { ...request, idempotencyKey: request.idempotencyKey ?? drawKey(parts.host) };
  const text = await askPatiently(parts, once, async () => readText(await parts.http.open(name, once)));
  if (answer.kind !== 'json') return undefined as AnswerOf<Routes[Name]>;
  return readAnswer(answer.schema, parseJson(text), `${parts.http.place} ${name}`) as AnswerOf<Routes[Name]>;
}

/** Tries until it is answered. What the server refuses is final, unless it says that it is busy or about to end. */
export async function askPatiently<Result>(
  { http }: { readonly http: Http },
  { signal, endless = false }: { readonly signal?: AbortSignal | undefined; readonly endless?: boolean },
  ask: () => Promise<Result>,
): Promise<Result> {
  const outage = http.patience.begin({ endless, signal });
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (signal?.aborted === true) throw error;
      const why = await explain(http, error);
      if (!why.passes || !(await outage.wait(why.error, why.leastMs))) throw why.error;
    }
  }
}

async function explain(
  http: Http,
  error: unknown,
): Promise<{ readonly error: Error; readonly passes: boolean; readonly leastMs?: number }> {
  if (!(error instanceof Refused)) return http.whyFailed(error);
  const { incoming, text, route } = error;
  const { status, headers } = incoming;
  if (status === 404) await refuseOldServer(http, route, text);
  const refusal = readRefusal(status, text, { place: http.place, what: route });
  const leastMs = Number(headers['retry-after'] ?? 0) * 1000;
  return { error: refusal, passes: passing.has(status), leastMs: Number.isFinite(leastMs) ? leastMs : 0 };
}

/** Busy, or not there for the moment. */
const passing: ReadonlySet<number> = new Set([429, 502, 503, 504]);

function outgoingOf<Name extends RouteName>({ http, host }: Parts, name: Name, request: Request<Name>): Outgoing {
  const route: Route = routes[name];
  const { token } = http.address;
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
  const path = pathOf(route.path, request.params ?? {}) + queryOf(request.query ?? {});
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
  const { sizeBytes, open } = body as SentStream;
  return { body: open(), headers: { ...headers, 'content-length': String(sizeBytes) } };
}

export function pathOf(template: string, params: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
}

export function queryOf(query: Readonly<Record<string, unknown>>): string {
  const given = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined) given.append(key, String(value));
  const text = given.toString();
  return text === '' ? '' : `?${text}`;
}

function drawKey({ chance }: Pick<Host, 'chance'>): string {
  return Buffer.from(chance.bytes(16)).toString('hex');
}
