import { createTokens } from '../../client/tokens.ts';
import { system } from '../../core/access/principal.ts';
import type { systemRoutes } from '../../wire/http/routes-system.ts';
import type { HandlersOf } from '../handler.ts';
import { refused } from '../http-refusal.ts';
import { createIdentityVerifier, type IdentityVerifier } from '../oidc.ts';
import { readPresented } from '../presented-token.ts';
import type { OidcSettings } from '../settings.ts';

/** How long somebody stays signed in who came by the issuer: whoever leaves there is let out here within that time. */
const tokenMs = 12 * 3_600_000;

/** One for each server of this process, since it remembers the issuer's keys. */
const verifiers = new WeakMap<OidcSettings, IdentityVerifier>();

export const signInHandlers = {
  async signIn({ headers, embedded, server }) {
    const { oidc } = server.settings;
    if (oidc === null) {
      throw refused('WRONG_STATE', 'this server knows no OpenID Connect issuer', {
        hint: 'yard login URL --token-file F, with a token of its administrator',
      });
    }
    const { authorization } = headers;
    const presented = readPresented(typeof authorization === 'string' ? authorization : undefined);
    if (presented?.kind !== 'identity') throw refused('UNAUTHORIZED', `a token of ${oidc.issuer} is expected here`);
    const verifier = verifiers.get(oidc) ?? createIdentityVerifier(oidc);
    verifiers.set(oidc, verifier);
    const name = await verifier.verify(presented.text, embedded.host.clock.wallMs());
    const { token, expiresAt } = await createTokens({ ...embedded, actor: system }).create({
      user: name,
      expiresMs: tokenMs,
    });
    return { name, token, expiresAt };
  },
} satisfies Partial<HandlersOf<typeof systemRoutes>>;
