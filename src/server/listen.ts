import type { IncomingMessage } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { plainAddress } from './allowed-hosts.ts';
import type { createApp } from './app.ts';
import type { Certificate } from './certificate.ts';
import { refused } from './http-refusal.ts';
import type { ServerParts } from './server-parts.ts';
import { mountSockets } from './upgrade.ts';

/** Room for the id that a log of many tasks is resumed by. */
const headerBytes = 64 * 1024;
const checkMs = 1000;
const idleMs = 65_000;
const handshakeMs = 10_000;
const idleLookMs = 50;

/** A TLS server, what cuts the connections that have not asked anything yet, and what cuts every one. */
export interface Listener {
  readonly https: Server;
  readonly cutSilent: () => void;
  readonly cutAll: () => void;
}

/** The TLS server with its limits, not listening yet. */
export function createListener(
  server: ServerParts,
  app: ReturnType<typeof createApp>,
  certificate: Certificate,
): Listener {
  const { limits } = server.settings;
  // The global Request and Response stay as they are: this process may be somebody else's.
  const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const https = createServer(
    {
      cert: certificate.cert,
      key: certificate.key,
      minVersion: 'TLSv1.2',
      handshakeTimeout: handshakeMs,
      headersTimeout: limits.headersMs,
      // Bodies have a deadline of their own: those of bytes may take long, as long as they move.
      requestTimeout: 0,
      connectionsCheckingInterval: Math.min(checkMs, limits.headersMs),
      keepAliveTimeout: idleMs,
      maxHeaderSize: headerBytes,
    },
    (request, response) => {
      server.notes.of(request);
      // Its connection would carry one request after another.
      if (server.stopping.aborted) response.shouldKeepAlive = false;
      response.once('close', () => {
        const status = response.headersSent ? response.statusCode : null;
        server.notes.ended(request, status, !response.writableFinished);
      });
      void answer(request, response);
    },
  );
  https.maxConnections = limits.connections;
  limitPerPeer(https, limits.connectionsPerPeer);
  const cutSilent = followSilent(https);
  const cutSockets = mountSockets(server, https);
  return {
    https,
    cutSilent,
    cutAll: () => {
      https.closeAllConnections();
      cutSockets();
    },
  };
}

/** One address cannot take all connections [R4.15]. */
function limitPerPeer(https: Server, most: number): void {
  const open = new Map<string, number>();
  https.on('connection', (socket: Socket) => {
    const peer = plainAddress(socket.remoteAddress ?? '');
    const count = (open.get(peer) ?? 0) + 1;
    if (count > most) {
      socket.destroy();
      return;
    }
    open.set(peer, count);
    socket.once('close', () => {
      const left = (open.get(peer) ?? 1) - 1;
      if (left === 0) open.delete(peer);
      else open.set(peer, left);
    });
  });
}

/** Node counts a connection as busy until its first request, and one that is only shaking hands not at all. */
function followSilent(https: Server): () => void {
  const silent = new Map<string, Socket>();
  const nameOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
  https.on('connection', (socket: Socket) => {
    const name = nameOf(socket);
    silent.set(name, socket);
    socket.once('close', () => {
      if (silent.get(name) === socket) silent.delete(name);
    });
  });
  const hasAsked = ({ socket }: IncomingMessage): boolean => silent.delete(nameOf(socket));
  https.on('request', hasAsked);
  https.on('upgrade', hasAsked);
  return () => {
    for (const socket of silent.values()) socket.destroy();
  };
}

/** Takes no new connection, and resolves when the last one has ended; those that are left after `stopMs` are cut. */
export async function stopListening({ https, cutSilent, cutAll }: Listener, stopMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => https.close(() => resolve()));
  cutSilent();
  // Those that answer a last request are idle a moment later.
  const idle = setInterval(() => https.closeIdleConnections(), idleLookMs);
  https.closeIdleConnections();
  const late = setTimeout(cutAll, stopMs);
  await closed;
  clearInterval(idle);
  clearTimeout(late);
}

/** Resolves with the port once it listens. */
export function listen(https: Server, { host, port }: { host: string; port: number }): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => reject(listenFault(error, { host, port }));
    https.once('error', fail);
    https.listen({ host, port }, () => {
      https.off('error', fail);
      resolve((https.address() as AddressInfo).port);
    });
  });
}

function listenFault(error: Error, { host, port }: { host: string; port: number }): Error {
  const code = 'code' in error ? error.code : null;
  const place = `${host}:${port}`;
  if (code === 'EADDRINUSE') {
    return refused('PORT_CONFLICT', `another program listens on ${place} already`, {
      hint: 'take another with --listen',
    });
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return refused('BAD_VALUE', `this machine has no address ${host}`, { hint: 'see --listen' });
  }
  if (code === 'EACCES') {
    return refused('PRIVILEGE', `this user may not listen on ${place}`, {
      hint: 'take a port above 1023 with --listen',
    });
  }
  return error;
}
