import { agentRoutes } from './routes-agents.ts';
import { jobRoutes } from './routes-jobs.ts';
import { nodeRoutes } from './routes-nodes.ts';
import { serviceRoutes } from './routes-services.ts';
import { systemRoutes } from './routes-system.ts';

/** Every route of the API by its name. */
export const routes = { ...systemRoutes, ...jobRoutes, ...serviceRoutes, ...nodeRoutes, ...agentRoutes };

export type Routes = typeof routes;
export type RouteName = keyof Routes;
