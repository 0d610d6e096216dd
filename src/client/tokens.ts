import { drawToken } from '../control/tokens.ts';
import { viewTokens } from '../core/access/view.ts';
import type { CreatedToken, Tokens } from './access-api.ts';
import { type Embedded, execute } from './embedded.ts';

const joinLifetimeMs = 3_600_000;

/** The secret is drawn here and handed to whoever asked: the log has its digest only. */
export function createTokens(embedded: Embedded): Tokens {
  const { plane, actor, host } = embedded;
  const by = actor.name;
  const list: Tokens['list'] = async () => {
    await plane.catchUp();
    return viewTokens(plane.state, actor, { atMs: host.clock.wallMs(), nowMs: plane.nowMs() });
  };
  const created = ({ id, text }: { id: string; text: string }, lifetimeMs: number | null): CreatedToken => {
    const expiresAt = lifetimeMs === null ? null : new Date(host.clock.wallMs() + lifetimeMs).toISOString();
    return { id, token: text, expiresAt };
  };
  return {
    list,
    async create({ user = by, expiresMs, project, admin = false } = {}) {
      const drawn = drawToken('user', host.chance, host.digests);
      const lifetimeMs = expiresMs ?? null;
      const scope = { user, lifetimeMs, project: project ?? null, admin };
      await execute(embedded, { kind: 'CreateToken', token: drawn.id, hash: drawn.hash, ...scope, by });
      return created(drawn, lifetimeMs);
    },
    async createJoin({ expiresMs: lifetimeMs = joinLifetimeMs, node } = {}) {
      const { id: token, hash, text } = drawToken('join', host.chance, host.digests);
      await execute(embedded, { kind: 'CreateJoinToken', token, hash, lifetimeMs, node: node ?? null, by });
      return created({ id: token, text }, lifetimeMs);
    },
    async revoke(token) {
      await execute(embedded, { kind: 'RevokeToken', token, by });
    },
  };
}
