import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { createStreamReader, type StreamEvent } from '../wire/http/event-stream.ts';
import { Server, type StartOptions } from './server.ts';

/** A server of its own for one test file, and a plain way to ask it. */
export interface Served {
  readonly server: Server;
  readonly home: string;
  /** The lines of its log, read back. */
  readonly lines: readonly Record<string, unknown>[];
  /** Asks as the administrator unless `token` says otherwise; null asks without one. */
  readonly ask: (method: string, path: string, how?: Ask) => Promise<Answered>;
  readonly end: () => Promise<void>;
}

export interface Ask {
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON, or as they are when they are bytes. */
  readonly body?: unknown;
}

export interface Answered {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  /** Null where the answer is no JSON. */
  readonly json: unknown;
}

/** What stands at a dotted place of an answer, as text. */
export function pick(json: unknown, path: string): string {
  let found = json;
  for (const key of path.split('.')) found = (found as Readonly<Record<string, unknown>>)[key];
  return String(found);
}

export async function serve(options: StartOptions = {}): Promise<Served> {
  const home = options.home ?? mkdtempSync(join(tmpdir(), 'yard-server-'));
  const lines: Record<string, unknown>[] = [];
  const server = await Server.start({
    home,
    listen: { host: '127.0.0.1', port: 0 },
    log: { write: (line) => void lines.push(JSON.parse(line)) },
    ...options,
  });
  return {
    server,
    home,
    lines,
    ask: (method, path, how) => ask(server, { method, path }, how),
    end: async () => {
      await server.close();
      if (options.home === undefined) rmSync(home, { recursive: true, force: true });
    },
  };
}

/** The request and its open answer, for streams. */
export function open(server: Server, options: RequestOptions, how: Ask = {}): Promise<IncomingMessage> {
  const { token = server.adminToken, headers = {}, body } = how;
  const bytes = body === undefined || body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body));
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      {
        host: '127.0.0.1',
        port: server.port,
        rejectUnauthorized: false,
        agent: false,
        ...options,
        headers: {
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(bytes === undefined ? {} : { 'content-type': 'application/json', 'content-length': bytes.length }),
          ...headers,
        },
      },
      resolve,
    );
    request.on('error', reject);
    request.end(bytes);
  });
}

async function ask(server: Server, options: RequestOptions, how: Ask = {}): Promise<Answered> {
  const answer = await open(server, options, how);
  const parts: Buffer[] = [];
  for await (const part of answer as AsyncIterable<Buffer>) parts.push(part);
  const text = Buffer.concat(parts).toString();
  const isJson = (answer.headers['content-type'] ?? '').includes('json');
  return {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    text,
    json: isJson ? JSON.parse(text) : null,
  };
}

/** Sends these very bytes over a connection of their own, and reads until the server ends it. */
export function sendRaw(server: Server, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: server.port, rejectUnauthorized: false });
    let text = '';
    socket.on('data', (part) => {
      text += String(part);
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
    socket.write(bytes);
  });
}

/** The events of an open stream as they come; `end` hangs up. */
export async function* eventsOf(answer: IncomingMessage): AsyncGenerator<StreamEvent> {
  const read = createStreamReader();
  const decoder = new TextDecoder();
  for await (const part of answer as AsyncIterable<Buffer>) yield* read(decoder.decode(part, { stream: true }));
}
