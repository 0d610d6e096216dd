import type { IncomingMessage } from 'node:http';
import { Agent } from 'node:https';
import { longestFrameBytes } from '../../../wire/agent-protocol.ts';
import { routes } from '../../../wire/http/routes.ts';
import { readRefusal } from '../answers.ts';
import { networkFaultOf, placeOf } from '../network-fault.ts';
import type { ServerAddress } from '../outgoing.ts';
import { PinnedAgent } from '../pinned-agent.ts';
import type { Link, LinkListener } from './link.ts';
import { linkOf } from './socket-link.ts';

const handshakeMs = 15_000;
const longestRefusalBytes = 64 * 1024;

/** The server's frames hold all orders of a node. */
const longestServerFrameBytes = 256 * longestFrameBytes;

/**
 * Opens the agent's connection: TLS to the pinned certificate, then the node's key in a header, never in the address.
 * Throws a RefusalError where the server refuses the node for good, and another error where it may be tried again.
 */
export async function connectAgent(address: ServerAddress, listener: LinkListener): Promise<Link> {
  const { default: WebSocket } = await import('ws');
  const { url, fingerprint, token } = address;
  const agent = fingerprint === null ? new Agent() : new PinnedAgent(fingerprint, {});
  const socket = new WebSocket(new URL(routes.agent.path, url.replace(/^http/, 'ws')), {
    agent,
    headers: { authorization: `Bearer ${token ?? ''}` },
    handshakeTimeout: handshakeMs,
    perMessageDeflate: false,
    maxPayload: longestServerFrameBytes,
    followRedirects: false,
  });
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve(linkOf(socket, () => listener)));
    socket.once('unexpected-response', (request, response) => {
      readAll(response)
        .then((text) => reject(errorOf(response.statusCode ?? 0, text, placeOf(url))), reject)
        .finally(() => request.destroy());
    });
    socket.once('error', (error: Error) => reject(faultOf(error, url)));
  });
}

/** What is of the server's own making and passes by itself is no reason to end. */
function errorOf(status: number, text: string, place: string): Error {
  const refusal = readRefusal(status, text, { place, what: 'agent' });
  return status >= 500 || status === 429 || status === 408 ? new Error(refusal.message) : refusal;
}

function faultOf(error: Error, url: string): Error {
  try {
    const { error: refusal, passes } = networkFaultOf(error, url);
    return passes ? new Error(refusal.message) : refusal;
  } catch {
    return new Error(`${placeOf(url)} cannot be reached: ${error.message}`, { cause: error });
  }
}

async function readAll(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let sizeBytes = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    sizeBytes += part.length;
    if (sizeBytes > longestRefusalBytes) break;
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
