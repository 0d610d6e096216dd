import { linkOf } from '../../client/remote/agent/socket-link.ts';
import { longestFrameBytes } from '../../wire/agent-protocol.ts';
import type { agentRoutes } from '../../wire/http/routes-agents.ts';
import type { AskedSocket } from '../sockets.ts';

/** The connection of an agent: its key was looked at, and what it says is the hub's. */
export async function serveAgent(asked: AskedSocket<typeof agentRoutes.agent>): Promise<void> {
  const { actor, server, signal } = asked;
  const socket = await asked.accept();
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  linkOf(socket, (link) => {
    const listener = server.agents.accept(link, actor.name);
    return {
      ...listener,
      onText(text) {
        // What is longer is no message of the protocol; it was read no further than the server's own limit.
        if (text.length > 4 * longestFrameBytes) link.abandon();
        else listener.onText(text);
      },
    };
  });
  const stop = (): void => socket.terminate();
  // The hub has said goodbye to every agent by then; one that does not answer is not waited for.
  signal.addEventListener('abort', () => setTimeout(stop, 1000).unref(), { once: true });
  await closed;
}
