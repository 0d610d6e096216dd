import { createHash, X509Certificate } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { generate } from 'selfsigned';
import type { HttpHost } from './outgoing.ts';

/** One request as it came. */
export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A TLS server that does to each request what the next of its answers says: also what no good server does. */
export interface RoughServer {
  readonly url: string;
  readonly fingerprint: string;
  readonly seen: readonly Seen[];
  close(): Promise<void>;
}

export type Rough = (response: ServerResponse, seen: Seen) => void;

/** Answers in turn; the last one again and again. */
export async function startRoughServer(...answers: readonly Rough[]): Promise<RoughServer> {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'rough' }], { keyType: 'ec' });
  const seen: Seen[] = [];
  const server = createServer({ key, cert }, (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const one = { method, url, headers, body: Buffer.concat(parts).toString() };
      seen.push(one);
      const answer = answers[Math.min(seen.length, answers.length) - 1];
      answer?.(response, one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const digest = createHash('sha256').update(new X509Certificate(cert).raw).digest('hex');
  return { url: `https://127.0.0.1:${port}`, fingerprint: `sha256:${digest}`, seen, close: () => closeServer(server) };
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

export const json =
  (value: unknown, status = 200): Rough =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  };

export const refusal = (status: number, error: Readonly<Record<string, unknown>>, headers = {}): Rough => {
  const body = JSON.stringify({ error: { hint: null, path: null, ...error } });
  return (response) => void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
};

/** Cuts the connection without a word. */
export const hangUp: Rough = (response) => void response.socket?.destroy();

/** Sends text and then cuts the connection. */
export const breakOff =
  (text: string): Rough =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(text, () => response.socket?.destroy());
  };

/** A clock that moves only as somebody waits, so that no test waits itself. */
export function hurriedHost(): HttpHost & { readonly waitedMs: () => number } {
  let nowMs = 0;
  return {
    clock: { wallMs: () => nowMs, bootMs: () => nowMs, bootId: () => 'boot' },
    timers: {
      after(delayMs, callback) {
        const timer = setImmediate(() => {
          nowMs += delayMs;
          callback();
        });
        return () => clearImmediate(timer);
      },
    },
    chance: {
      bytes: (length) => new Uint8Array(length).map(() => Math.floor(256 * Math.random())),
      fraction: () => 0.5,
    },
    waitedMs: () => nowMs,
  };
}
