import * as z from 'zod';
import type { Route } from './route.ts';
import { json, queryNumber, socket } from './route-parts.ts';

/** What only agents use. A node speaks for its own tasks only. */
export const agentRoutes = {
  agent: {
    method: 'GET',
    path: '/v1/agent',
    summary: "the agent's own WebSocket: orders, reports, heartbeats, streams",
    access: 'node',
    answer: socket,
  },
  pushLog: {
    method: 'PUT',
    path: '/v1/agent/logs/{task}/{file}',
    summary: 'the next piece of a log; 409 with the size the server has, when it does not fit on',
    access: 'node',
    query: z.strictObject({ offset: queryNumber }),
    body: { bytes: true, mostBytes: 1024 * 1024 },
    answer: json(z.object({ sizeBytes: z.int() })),
  },
} as const satisfies Record<string, Route>;
