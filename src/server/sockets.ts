import type { WebSocket } from 'ws';
import type { Embedded } from '../client/embedded.ts';
import type { Principal } from '../core/access/principal.ts';
import type { QueryOf, Route } from '../wire/http/route.ts';
import type { routes } from '../wire/http/routes.ts';
import { serveAgent } from './agents/agent-socket.ts';
import { serveExec } from './agents/exec-socket.ts';
import type { ParamsOf } from './handler.ts';
import type { ServerParts } from './server-parts.ts';

/** A WebSocket that somebody who may ask for it asks for. What is thrown before it is accepted is answered as a refusal. */
export interface AskedSocket<R extends Route> {
  readonly params: Readonly<Record<ParamsOf<R['path']>, string>>;
  readonly query: QueryOf<R>;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly actor: Principal;
  readonly embedded: Embedded;
  readonly server: ServerParts;
  /** Aborts when the socket has closed, and when the server stops: then it is to be closed with 1001. */
  readonly signal: AbortSignal;
  accept(): Promise<WebSocket>;
}

/** Resolves when the socket is done with. */
export type SocketHandler<R extends Route> = (asked: AskedSocket<R>) => Promise<void>;

/** A handler for each route of the table that becomes a WebSocket. */
export type SocketHandlers = {
  readonly [Name in keyof typeof routes as (typeof routes)[Name]['answer'] extends { readonly kind: 'socket' }
    ? Name
    : never]: SocketHandler<(typeof routes)[Name]>;
};

/** What runs behind the WebSockets of the table. */
export const sockets: SocketHandlers = { agent: serveAgent, execJob: serveExec };
