import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent, type AgentOptions, request } from 'node:https';
import type { Readable } from 'node:stream';
import { version } from '../version.ts';
import type { Fingerprint } from './fingerprint.ts';
import { PinnedAgent } from './pinned-agent.ts';

/** One request as it goes out. */
export interface Outgoing {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes are sent with their length; a stream must come with a `content-length` of its own. */
  readonly body: Uint8Array | Readable | null;
  /** Stays open for as long as it is followed. */
  readonly isFollowed: boolean;
  /** Without a byte in either direction for so long, it is given up. */
  readonly idleMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** The head of an answer, and its body as a stream that must be read or destroyed. */
export interface Incoming {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: IncomingMessage;
}

/** Connections to one server. Rejects with the system's error where it cannot be asked. */
export interface Transport {
  send(outgoing: Outgoing): Promise<Incoming>;
  close(): void;
}

/** Idle connections must not keep a command alive that is done; the requests themselves do. */
const agentOptions: AgentOptions = { keepAlive: true, maxSockets: 32, maxFreeSockets: 8, scheduling: 'lifo' };
/** What is followed must never keep a question waiting, however much of it there is. */
const followedOptions: AgentOptions = { ...agentOptions, maxSockets: Number.POSITIVE_INFINITY };

/** Without a fingerprint the certificate must be signed by somebody whom this machine trusts. */
export function createTransport(server: string, fingerprint: Fingerprint | null): Transport {
  const make = (options: AgentOptions): Agent =>
    fingerprint === null ? new Agent(options) : new PinnedAgent(fingerprint, options);
  const [agent, followed] = [make(agentOptions), make(followedOptions)];
  const base = new URL(server);
  return {
    send: (outgoing) => send(base, outgoing.isFollowed ? followed : agent, outgoing),
    close() {
      agent.destroy();
      followed.destroy();
    },
  };
}

function send(base: URL, agent: Agent, outgoing: Outgoing): Promise<Incoming> {
  const { method, path, headers, body, idleMs, signal } = outgoing;
  return new Promise((resolve, reject) => {
    const length = body instanceof Uint8Array ? { 'content-length': String(body.length) } : {};
    const asked = request({
      agent,
      host: base.hostname.replace(/^\[|\]$/g, ''),
      port: base.port === '' ? 443 : base.port,
      method,
      path,
      headers: { 'user-agent': `runyard/${version}`, ...length, ...headers },
      ...(signal === undefined ? {} : { signal }),
    });
    asked.setTimeout(idleMs, () => asked.destroy(silence(idleMs)));
    let answered = false;
    asked.once('response', (response) => {
      answered = true;
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: response });
    });
    asked.on('error', (error) => {
      // Once the answer has begun the error is the body's too, which is read by whoever asked.
      if (!answered) reject(error);
    });
    if (body === null) asked.end();
    else if (body instanceof Uint8Array) asked.end(body);
    else sendStream(body, asked);
  });
}

/** A source that fails cuts the request. After an answer that came early the connection is of no further use. */
function sendStream(body: Readable, asked: ClientRequest): void {
  body.once('error', (error) => asked.destroy(error));
  asked.once('response', (response) => {
    if (asked.writableFinished) return;
    body.unpipe(asked);
    response.once('close', () => asked.destroy());
  });
  asked.once('close', () => body.destroy());
  body.pipe(asked);
}

function silence(idleMs: number): Error {
  return Object.assign(new Error(`no byte for ${idleMs / 1000} s`), { code: 'ETIMEDOUT' });
}

const mostAnswerBytes = 256 * 1024 * 1024;

/** A whole body as text. */
export async function readText(incoming: Incoming): Promise<string> {
  return new TextDecoder().decode(await readBytes(incoming));
}

/** A whole body, for answers that are small by their nature. */
export async function readBytes({ body }: Incoming): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const part of body as AsyncIterable<Uint8Array>) {
    sizeBytes += part.length;
    if (sizeBytes > mostAnswerBytes) throw new Error(`an answer of more than ${mostAnswerBytes} bytes`);
    parts.push(part);
  }
  return new Uint8Array(Buffer.concat(parts));
}
