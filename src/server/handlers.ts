import type { routes } from '../wire/http/routes.ts';
import { agentHandlers } from './agents/agent-handlers.ts';
import type { HandlersOf } from './handler.ts';
import { jobHandlers } from './routes/jobs.ts';
import { nodeHandlers } from './routes/nodes.ts';
import { serviceHandlers } from './routes/services.ts';
import { systemHandlers } from './routes/system.ts';

/** A handler for every route of the table; one that is left out does not compile. */
export const handlers = {
  ...jobHandlers,
  ...systemHandlers,
  ...serviceHandlers,
  ...nodeHandlers,
  ...agentHandlers,
} satisfies HandlersOf<typeof routes>;
