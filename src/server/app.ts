import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import type { Route } from '../wire/http/route.ts';
import { type RouteName, routes } from '../wire/http/routes.ts';
import { handlers } from './handlers.ts';
import { refused } from './http-refusal.ts';
import { matchPath } from './paths.ts';
import { type AnyHandler, admit, sendError, serveRoute } from './serve-route.ts';
import type { ServerParts } from './server-parts.ts';

/** Mounts the whole table. A path that it does not have is unknown to everybody with a token, and closed to the rest. */
export function createApp(server: ServerParts): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  const all: readonly [string, Route][] = Object.entries(routes);
  for (const [name, route] of all) {
    const handler: AnyHandler = (handlers as Readonly<Record<string, AnyHandler>>)[name] ?? refuseSocket;
    app.on(route.method, pathOf(route), (context) => serveRoute(server, { name, route, handler }, context));
  }
  app.all('*', async (context) => {
    try {
      await admit(server, context.env.incoming, { name: 'none', access: 'user-or-node' });
      throw unknownPath(context.req.method, context.req.path);
    } catch (error) {
      return sendError(server, context, error);
    }
  });
  app.onError((error, context) => sendError(server, context, error));
  return app;
}

/** `{id}` in the table, `:id` in the router. */
function pathOf({ path }: Route): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

function unknownPath(method: string, path: string): Error {
  const known = (Object.keys(routes) as RouteName[]).filter((name) => matchPath(routes[name], path) !== null);
  const methods = known.map((name) => routes[name].method).join(', ');
  if (methods !== '') return refused('WRONG_METHOD', `this path takes ${methods}, not ${method}`);
  return refused('NOT_FOUND', 'there is nothing under this path', { hint: 'GET /v1/openapi.json lists what there is' });
}

function refuseSocket(): Promise<never> {
  return Promise.reject(
    refused('WRONG_METHOD', 'this path becomes a WebSocket', { hint: 'ask for it: Connection: Upgrade' }),
  );
}
