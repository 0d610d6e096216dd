import { linkOf } from '../../client/remote/agent/socket-link.ts';
import type { agentRoutes } from '../../wire/http/routes-agents.ts';
import type { AskedSocket } from '../sockets.ts';

const goodbyeMs = 1000;

/** The connection of an agent: its key was looked at, and what it says is the hub's. */
export async function serveAgent(asked: AskedSocket<typeof agentRoutes.agent>): Promise<void> {
  const { actor, server, signal } = asked;
  const socket = await asked.accept();
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  linkOf(socket, (link) => server.agents.accept(link, actor.name));
  // The hub has said goodbye to every agent by then; one that does not answer is not waited for.
  const end = (): void => void setTimeout(() => socket.terminate(), goodbyeMs).unref();
  signal.addEventListener('abort', end, { once: true });
  await closed;
}
