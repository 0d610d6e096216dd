import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { RefusalError } from '../client/refusal-error.ts';
import { readDiscovery } from '../client/remote/oidc-discovery.ts';
import { refuse } from '../core/refusal.ts';
import type { OidcSettings } from './settings.ts';

/** Says who somebody is by a token of the issuer. */
export interface IdentityVerifier {
  /** The user's name. Throws UNAUTHORIZED for a token that proves nothing, UNREACHABLE where the issuer cannot be asked. */
  verify(token: string, nowMs: number): Promise<string>;
}

/** Signatures only: with a shared secret whoever may verify may also sign. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
const clockToleranceS = 30;

/** Asks the issuer for its keys when the first token comes, and again when one is signed with a key that is new. */
export function createIdentityVerifier(settings: OidcSettings): IdentityVerifier {
  let keys: Promise<JWTVerifyGetKey> | null = null;
  const load = (): Promise<JWTVerifyGetKey> => {
    keys ??= readDiscovery(settings.issuer).then(({ jwksUri }) => createRemoteJWKSet(new URL(jwksUri)));
    // An issuer that could not be asked is asked again for the next token.
    keys.catch(() => {
      keys = null;
    });
    return keys;
  };
  return {
    async verify(token, nowMs) {
      const payload = await check(token, await load(), settings, nowMs);
      return nameOf(payload, settings);
    },
  };
}

async function check(
  token: string,
  keys: JWTVerifyGetKey,
  { issuer, clientId }: OidcSettings,
  nowMs: number,
): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(token, keys, {
      issuer,
      audience: clientId,
      algorithms,
      clockTolerance: clockToleranceS,
      currentDate: new Date(nowMs),
      requiredClaims: ['exp', 'iat', 'sub'],
    });
    return payload;
  } catch (error) {
    if (error instanceof errors.JWKSTimeout || !(error instanceof errors.JOSEError)) throw unreachable(issuer, error);
    throw unauthorized(`the token of ${issuer} proves nothing: ${error.message}`);
  }
}

const validName = /^[a-z0-9._@-]{1,64}$/;

/** An address that the issuer has not checked is anybody's. */
function nameOf(payload: JWTPayload, { claim, issuer }: OidcSettings): string {
  const value = payload[claim];
  if (typeof value !== 'string')
    throw unauthorized(`the token of ${issuer} has no claim ${claim} to take the name from`);
  if (claim === 'email' && payload.email_verified === false) {
    throw unauthorized(`${issuer} has not verified the address ${JSON.stringify(value)}`);
  }
  const name = value.toLowerCase();
  if (validName.test(name)) return name;
  throw unauthorized(
    `${JSON.stringify(value)} cannot be the name of a user: 1 to 64 of a-z, 0-9, ".", "_", "@" and "-"`,
  );
}

function unauthorized(message: string): RefusalError {
  return new RefusalError(refuse('UNAUTHORIZED', message, { hint: 'sign in again: yard login URL' }));
}

function unreachable(issuer: string, error: unknown): RefusalError {
  const why = error instanceof Error ? error.message : String(error);
  const message = `the keys of ${issuer} cannot be read: ${why}`;
  return new RefusalError(refuse('UNREACHABLE', message, { hint: 'try again; a token signs in without the issuer' }));
}
