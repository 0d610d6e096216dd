import type { AnswerOf, Route } from '../../wire/http/route.ts';
import { type RouteName, type Routes, routes } from '../../wire/http/routes.ts';
import type { RefusalError } from '../refusal-error.ts';
import { parseJson, readAnswer, readRefusal } from './answers.ts';
import { networkFaultOf, placeOf } from './network-fault.ts';
import { drawKey, type HttpHost, outgoingOf, type Request, type ServerAddress } from './outgoing.ts';
import { createPatience, type Patience } from './patience.ts';
import { refuseOldServer } from './server-version.ts';
import { createTransport, type Incoming, readText, type Transport } from './transport.ts';

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
      const incoming = await transport.send(outgoingOf({ address, host }, name, request));
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
