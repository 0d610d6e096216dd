import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Server } from 'node:https';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Route } from '../wire/http/route.ts';
import { routes } from '../wire/http/routes.ts';
import { type ErrorAnswer, RefusedForNow, refused } from './http-refusal.ts';
import { matchPath } from './paths.ts';
import { admit, answerError, endingOf, readQuery } from './serve-route.ts';
import type { ServerParts } from './server-parts.ts';
import { type AskedSocket, sockets } from './sockets.ts';

/** The largest message that one frame may carry. */
const messageBytes = 4 * 1024 * 1024;

type AnySocketHandler = (asked: never) => Promise<void>;

/**
 * Lets a connection become a WebSocket on the routes that are declared so, and on no other [R4.36]. Returns what cuts
 * those that are left.
 */
export function mountSockets(server: ServerParts, https: Server): () => void {
  const left = new Set<Duplex>();
  const acceptor = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: messageBytes });
  https.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // A connection that breaks here has nobody left to be told.
    socket.on('error', () => socket.destroy());
    left.add(socket);
    socket.once('close', () => left.delete(socket));
    void upgrade(server, { acceptor, request, socket, head });
  });
  return () => {
    for (const socket of left) socket.destroy();
  };
}

interface Upgrading {
  readonly acceptor: WebSocketServer;
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

async function upgrade(server: ServerParts, upgrading: Upgrading): Promise<void> {
  const { request, socket } = upgrading;
  const ending = endingOf(socket, server.stopping);
  let accepted = false;
  let status: number | null = null;
  try {
    const found = findSocket(request);
    const admitted = found === null ? unknownSocket : { name: found.name, access: found.route.access };
    const actor = await admit(server, request, admitted);
    if (found === null) throw noSocket();
    const asked: AskedSocket<Route> = {
      params: found.params,
      query: readQuery(found.route, found.search) as object,
      headers: request.headers,
      actor,
      embedded: { ...server.embedded, actor },
      server,
      signal: ending.signal,
      accept() {
        accepted = true;
        status = 101;
        return accept(upgrading);
      },
    };
    await found.handler(asked as never);
  } catch (error) {
    const answer = answerError(server, request, error);
    if (accepted) socket.destroy();
    else refuseUpgrade(socket, error, answer);
    status ??= answer.status;
  } finally {
    ending.forget();
    server.notes.ended(request, status, false);
  }
}

const unknownSocket = { name: 'none', access: 'user-or-node' } as const;

function noSocket(): Error {
  return refused('NOT_FOUND', 'nothing under this path becomes a WebSocket');
}

function accept({ acceptor, request, socket, head }: Upgrading): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    if (socket.destroyed) {
      reject(refused('BAD_REQUEST', 'the connection broke off'));
      return;
    }
    acceptor.handleUpgrade(request, socket, head, resolve);
  });
}

interface FoundSocket {
  readonly name: string;
  readonly route: Route;
  readonly handler: AnySocketHandler;
  readonly params: Readonly<Record<string, string>>;
  readonly search: URLSearchParams;
}

function findSocket({ url = '/', headers }: IncomingMessage): FoundSocket | null {
  if (headers.upgrade?.toLowerCase() !== 'websocket' || !url.startsWith('/')) return null;
  const [path = '/', ...query] = url.split('?');
  const all: readonly [string, Route][] = Object.entries(routes);
  for (const [name, route] of all) {
    const params = route.answer.kind === 'socket' ? matchPath(route, path) : null;
    const handler = (sockets as Readonly<Record<string, AnySocketHandler>>)[name];
    if (params === null || handler === undefined) continue;
    return { name, route, handler, params, search: new URLSearchParams(query.join('?')) };
  }
  return null;
}

function refuseUpgrade(socket: Duplex, error: unknown, { status, body }: ErrorAnswer): void {
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Connection: close',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(text)}`,
    ...(error instanceof RefusedForNow ? [`Retry-After: ${error.seconds}`] : []),
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`);
}
