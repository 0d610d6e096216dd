import { Agent } from 'node:https';
import { WebSocket } from 'ws';
import { type RouteName, routes } from '../../wire/http/routes.ts';
import { readRefusal } from './answers.ts';
import type { Http } from './http.ts';
import { pathOf, queryOf } from './outgoing.ts';
import { PinnedAgent } from './pinned-agent.ts';
import { readText } from './transport.ts';

const handshakeMs = 10_000;
/** A connection over which nothing came for so long, not even the answer to a ping, is dead. */
const pingMs = 15_000;
const silentMs = 45_000;
const mostMessageBytes = 1024 * 1024;

/** A WebSocket to a route of the server, opened as the same user as everything else. */
export async function openSocket(
  http: Http,
  name: RouteName,
  {
    params,
    query,
  }: {
    readonly params: Readonly<Record<string, string>>;
    readonly query: Readonly<Record<string, string | number | boolean>>;
  },
): Promise<WebSocket> {
  const { url, fingerprint, token } = http.address;
  const agent = fingerprint === null ? new Agent() : new PinnedAgent(fingerprint, {});
  const target = new URL(pathOf(routes[name].path, params) + queryOf(query), url);
  target.protocol = 'wss:';
  const socket = new WebSocket(target, {
    agent,
    perMessageDeflate: false,
    maxPayload: mostMessageBytes,
    handshakeTimeout: handshakeMs,
    headers: token === null ? {} : { authorization: `Bearer ${token}` },
  });
  await opened(http, name, socket);
  watchSilence(socket);
  return socket;
}

function opened(http: Http, name: RouteName, socket: WebSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      try {
        reject(http.whyFailed(error).error);
      } catch {
        // Not of the network: said as it is.
        reject(error);
      }
    };
    socket.once('open', () => {
      socket.off('error', fail);
      resolve();
    });
    socket.once('error', fail);
    socket.once('unexpected-response', (asked, response) => {
      const incoming = { status: response.statusCode ?? 0, headers: response.headers, body: response };
      readText(incoming)
        .then((text) => reject(readRefusal(incoming.status, text, { place: http.place, what: name })), fail)
        .finally(() => asked.destroy());
    });
  });
}

/** A half-open connection says nothing by itself. */
function watchSilence(socket: WebSocket): void {
  let quiet = 0;
  const timer = setInterval(() => {
    quiet += pingMs;
    if (quiet > silentMs) socket.terminate();
    else socket.ping();
  }, pingMs);
  const heard = (): void => {
    quiet = 0;
  };
  socket.on('pong', heard);
  socket.on('message', heard);
  socket.once('close', () => clearInterval(timer));
}
