import { refuse } from '../../core/refusal.ts';
import { RefusalError } from '../refusal-error.ts';
import { type Fingerprint, readFingerprint } from './fingerprint.ts';

/** The address of a server as a person writes it: https, a host, perhaps a port, and nothing else. */
export function readServerUrl(text: string): string {
  const url = parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`);
  const hint = 'it looks like this: https://lab.example.org:7443';
  if (url === null)
    throw new RefusalError(refuse('BAD_VALUE', `${JSON.stringify(text)} is no address of a server`, { hint }));
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    const message = 'an address of a server holds no token, password or query: addresses end up in logs and histories';
    throw new RefusalError(refuse('BAD_VALUE', message, { hint: 'RUNYARD_TOKEN, or yard login URL --token-file F' }));
  }
  if (url.protocol !== 'https:') {
    const message = `${url.protocol}// would show the token to everybody on the way`;
    throw new RefusalError(refuse('BAD_VALUE', message, { hint }));
  }
  if (url.pathname !== '/') {
    throw new RefusalError(refuse('BAD_VALUE', `the address of a server has no path, found ${url.pathname}`, { hint }));
  }
  return url.origin;
}

function parse(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    // The caller says what is expected.
    return null;
  }
}

/** `yt_…@sha256:…`: a token, and the certificate of the server that it is for. */
export function readToken(text: string): { readonly token: string; readonly fingerprint: Fingerprint | null } {
  const [token = '', written] = text.trim().split('@');
  const fingerprint = written === undefined ? null : readFingerprint(written);
  if (/^[\x21-\x7e]+$/.test(token) && (written === undefined || fingerprint !== null)) return { token, fingerprint };
  const hint = 'yard tokens create prints one: yt_…, or yt_…@sha256:… with the fingerprint of the server';
  throw new RefusalError(refuse('BAD_VALUE', 'what is given as a token is none', { hint }));
}
