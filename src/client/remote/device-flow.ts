import * as z from 'zod';
import { refuse } from '../../core/refusal.ts';
import { sleep } from '../../host/clock.ts';
import { RefusalError } from '../refusal-error.ts';
import { readDiscovery } from './oidc-discovery.ts';
import type { RemoteHost } from './remote.ts';

/** What a person has to do, on whatever device has a browser. */
export interface DeviceCode {
  readonly url: string;
  /** To be compared with, or typed into, the page. */
  readonly code: string;
}

const started = z.object({
  device_code: z.string(),
  user_code: z.string(),
  verification_uri: z.url(),
  verification_uri_complete: z.exactOptional(z.url()),
  expires_in: z.number(),
  interval: z.exactOptional(z.number()),
});
const granted = z.object({ id_token: z.string() });
const refusal = z.object({ error: z.string(), error_description: z.exactOptional(z.string()) });

const askMs = 10_000;
const defaultIntervalS = 5;

/** Signs a person in at an issuer without a browser here (RFC 8628). Returns the ID token that says who they are. */
export async function signInByDevice(
  { issuer, clientId }: { readonly issuer: string; readonly clientId: string },
  { clock, timers }: Pick<RemoteHost, 'clock' | 'timers'>,
  options: { readonly show: (code: DeviceCode) => void; readonly signal?: AbortSignal },
): Promise<string> {
  const { deviceEndpoint, tokenEndpoint } = await readDiscovery(issuer);
  if (deviceEndpoint === null) throw failed(`${issuer} lets nobody sign in from another device`);
  const answer = await post(deviceEndpoint, { client_id: clientId, scope: 'openid email profile' });
  const begun = started.safeParse(answer.json);
  if (!begun.success) throw failed(`${issuer} begins no sign-in: ${reasonOf(answer.json)}`);
  const { device_code, user_code, verification_uri, verification_uri_complete, expires_in } = begun.data;
  options.show({ url: verification_uri_complete ?? verification_uri, code: user_code });
  const endMs = clock.bootMs() + expires_in * 1000;
  let intervalMs = (begun.data.interval ?? defaultIntervalS) * 1000;
  while (clock.bootMs() < endMs) {
    await sleep(timers, intervalMs, options.signal);
    if (options.signal?.aborted) throw failed('the sign-in was given up');
    const grant = { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code, client_id: clientId };
    const { json } = await post(tokenEndpoint, grant);
    const done = granted.safeParse(json);
    if (done.success) return done.data.id_token;
    const why = refusal.safeParse(json);
    const code = why.success ? why.data.error : '';
    if (code === 'slow_down') intervalMs += 5000;
    else if (code !== 'authorization_pending') throw failed(`${issuer} signs nobody in: ${reasonOf(json)}`);
  }
  throw failed('nobody entered the code in time');
}

async function post(url: string, fields: Readonly<Record<string, string>>): Promise<{ readonly json: unknown }> {
  try {
    const answer = await fetch(url, {
      method: 'POST',
      body: new URLSearchParams(fields),
      redirect: 'error',
      signal: AbortSignal.timeout(askMs),
    });
    return { json: await answer.json() };
  } catch (error) {
    throw failed(`${url} cannot be asked: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function reasonOf(json: unknown): string {
  const read = refusal.safeParse(json);
  if (!read.success) return 'its answer is not understood';
  return read.data.error_description ?? read.data.error;
}

function failed(message: string): RefusalError {
  return new RefusalError(refuse('UNAUTHORIZED', message, { hint: 'yard login URL tries again' }));
}
