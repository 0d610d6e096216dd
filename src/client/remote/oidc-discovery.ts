import * as z from 'zod';
import { refuse } from '../../core/refusal.ts';
import { RefusalError } from '../refusal-error.ts';

/** What an OpenID Connect issuer says of itself. */
export interface Discovery {
  readonly jwksUri: string;
  readonly tokenEndpoint: string;
  /** Null where it lets nobody sign in from another device. */
  readonly deviceEndpoint: string | null;
}

const document = z.object({
  issuer: z.string(),
  jwks_uri: z.url(),
  token_endpoint: z.url(),
  device_authorization_endpoint: z.exactOptional(z.url()),
});

const askMs = 10_000;

/**
 * Reads the issuer's discovery document. The document must name the very issuer that was asked for, or another could
 * speak in its place; everything it names is reached by https, but for an issuer on this very machine.
 */
export async function readDiscovery(issuer: string): Promise<Discovery> {
  const url = `${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`;
  refuseOpen(url);
  const read = document.safeParse(await fetchJson(url));
  if (!read.success) throw unusable(`${url} is no discovery document of OpenID Connect`);
  const { jwks_uri, token_endpoint, device_authorization_endpoint } = read.data;
  if (read.data.issuer !== issuer) {
    throw unusable(`${url} is of the issuer ${read.data.issuer}, and ${issuer} was expected`);
  }
  for (const one of [jwks_uri, token_endpoint, device_authorization_endpoint]) if (one !== undefined) refuseOpen(one);
  return {
    jwksUri: jwks_uri,
    tokenEndpoint: token_endpoint,
    deviceEndpoint: device_authorization_endpoint ?? null,
  };
}

async function fetchJson(url: string): Promise<unknown> {
  try {
    const answer = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(askMs) });
    if (answer.ok) return await answer.json();
    throw new Error(`it answers with ${answer.status}`);
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw unusable(`${url} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
}

function refuseOpen(text: string): void {
  const { protocol, hostname } = new URL(text);
  const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  if (protocol !== 'https:' && !isHere) throw unusable(`${text} is not https: anybody on the way could change it`);
}

function unusable(message: string): RefusalError {
  return new RefusalError(
    refuse('UNREACHABLE', message, { hint: 'is the issuer right (--oidc-issuer of the server)?' }),
  );
}
