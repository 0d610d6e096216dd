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
    summary: 'the next piece of a log; the answer says how much the server has: from there it goes on',
    access: 'node',
    query: z.strictObject({ offset: queryNumber, droppedFrom: z.exactOptional(queryNumber) }),
    body: { bytes: true, mostBytes: 1024 * 1024 },
    answer: json(z.object({ sizeBytes: z.int(), full: z.boolean() })),
  },
} as const satisfies Record<string, Route>;
