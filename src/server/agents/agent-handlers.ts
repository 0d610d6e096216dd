import type { agentRoutes } from '../../wire/http/routes-agents.ts';
import type { HandlersOf } from '../handler.ts';

/** What agents ask for beside their socket. */
export const agentHandlers = {
  async pushLog({ params, query, body, actor, server }) {
    const parts: Buffer[] = [];
    for await (const part of body) parts.push(part as Buffer);
    const { task, file } = params;
    const { offset, droppedFrom = null } = query;
    return server.logs.push(actor.name, { task, file, offset, droppedFrom, bytes: Buffer.concat(parts) });
  },
} satisfies HandlersOf<typeof agentRoutes>;
