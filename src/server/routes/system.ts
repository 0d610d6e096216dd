import { version } from '../../client/version.ts';
import type { systemRoutes } from '../../wire/http/routes-system.ts';
import type { HandlersOf } from '../handler.ts';

export const systemHandlers = {
  async health({ embedded, server }) {
    const { oidc } = server.settings;
    return {
      status: 'ok',
      version,
      incarnation: embedded.plane.log.incarnation,
      oidc: oidc === null ? null : { issuer: oidc.issuer, clientId: oidc.clientId },
    };
  },
} satisfies Partial<HandlersOf<typeof systemRoutes>>;
