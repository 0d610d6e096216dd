import { connect, createServer } from 'node:net';
import type { Network } from '../network.ts';
import { httpGet } from './http-get.ts';
import { codeOf, toHostError } from './system-error.ts';

/** Loopback is tried besides the wildcards since some systems let a wildcard stand beside a listener on one address. */
const addresses = ['0.0.0.0', '::', '127.0.0.1', '::1'];

/** What a machine without IPv6 answers. */
const unsupported = new Set(['EAFNOSUPPORT', 'EADDRNOTAVAIL', 'EPROTONOSUPPORT', 'EINVAL']);

export function createNodeNetwork(): Network {
  return { isPortFree, canConnect, httpGet };
}

async function isPortFree(port: number): Promise<boolean> {
  for (const address of addresses) {
    if (!(await canListen(port, address))) return false;
  }
  return true;
}

function canListen(port: number, host: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error) => {
      const code = codeOf(error);
      if (code === 'EADDRINUSE' || code === 'EACCES') resolve(false);
      else if (code !== null && host.includes(':') && unsupported.has(code)) resolve(true);
      else reject(toHostError(error, null));
    });
    server.listen({ port, host, exclusive: true, ipv6Only: host.includes(':') }, () =>
      server.close(() => resolve(true)),
    );
  });
}

/** IPv6 is tried when IPv4 did not accept: nearly all servers listen on both, and are asked often. */
async function canConnect(port: number, timeoutMs: number): Promise<boolean> {
  const endsAt = performance.now() + timeoutMs;
  if (await connectOnce(port, '127.0.0.1', timeoutMs)) return true;
  const leftMs = endsAt - performance.now();
  return leftMs > 1 && connectOnce(port, '::1', leftMs);
}

const farewellMs = 1000;

/**
 * The connection is ended, not cut: a server that was about to say something, and does not expect a reset, must not
 * fall over because it was asked whether it is there.
 */
function connectOnce(port: number, host: string, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host });
    const giveUp = (): void => {
      socket.destroy();
      resolve(false);
    };
    const timer = setTimeout(giveUp, timeoutMs);
    socket.once('connect', () => {
      clearTimeout(timer);
      resolve(true);
      socket.unref();
      socket.resume();
      socket.end();
      const farewell = setTimeout(() => socket.destroy(), farewellMs).unref();
      socket.once('close', () => clearTimeout(farewell));
    });
    socket.on('error', () => {
      clearTimeout(timer);
      giveUp();
    });
  });
}
