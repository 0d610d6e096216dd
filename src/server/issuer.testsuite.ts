// oxlint-disable-next-line typescript/triple-slash-reference -- the project of tests lists no declaration files
/// <reference path="./oidc-provider.d.ts" />
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { Provider } from 'oidc-provider';

export const clientId = 'yard';

/** A real OpenID Connect provider on loopback; whoever logs in as NAME has the address NAME@example.org. */
export interface Issuer {
  readonly url: string;
  /** A token signed with the issuer's own key, with these claims over good ones. */
  sign(claims: JWTPayload, header?: { readonly alg?: string; readonly kid?: string }): Promise<string>;
  /** Does in a browser's place what a person does who was shown this address: logs in, and lets the device in. */
  confirm(url: string, login: string): Promise<void>;
  /** Clicks "abort" instead. */
  abort(url: string): Promise<void>;
  close(): Promise<void>;
}

export async function startIssuer(): Promise<Issuer> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const jwk = { ...(await exportJWK(privateKey)), kid: 'first', use: 'sig', alg: 'RS256' };
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(url, {
    jwks: { keys: [jwk] },
    clients: [
      {
        client_id: clientId,
        token_endpoint_auth_method: 'none',
        grant_types: ['urn:ietf:params:oauth:grant-type:device_code'],
        response_types: [],
        redirect_uris: [],
      },
    ],
    cookies: { keys: ['only a test'] },
    features: { deviceFlow: { enabled: true }, devInteractions: { enabled: true } },
    conformIdTokenClaims: false,
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    findAccount: (_context: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, email: `${id}@example.org`, email_verified: true }),
    }),
  });
  server.on('request', provider.callback());
  return {
    url,
    sign: (claims, header = {}) => {
      const nowS = Math.floor(Date.now() / 1000);
      const good = { iss: url, aud: clientId, sub: 'ada', email: 'ada@example.org', iat: nowS, exp: nowS + 300 };
      const { alg = 'RS256', kid = 'first' } = header;
      return new SignJWT({ ...good, ...claims }).setProtectedHeader({ alg, kid }).sign(privateKey);
    },
    confirm: (address, login) => walk(address, { login, password: 'any' }),
    abort: (address) => walk(address, { abort: 'yes' }),
    close: () => closeServer(server),
  };
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

const mostPages = 20;

/** Follows redirects and submits every form, with what is typed, until there is none left. */
async function walk(start: string, typed: Readonly<Record<string, string>>): Promise<void> {
  const cookies = new Map<string, string>();
  let next: { url: string; body: URLSearchParams | null } = { url: start, body: null };
  for (let page = 0; page < mostPages; page += 1) {
    const { url, body } = next;
    const answer = await fetch(url, {
      method: body === null ? 'GET' : 'POST',
      body,
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = answer.headers.get('location');
    const html = await answer.text();
    if (location !== null) next = { url: new URL(location, url).href, body: null };
    else if (!html.includes('<form') || body?.has('abort') === true) return;
    else next = submit(html, url, typed);
  }
  throw new Error(`the issuer shows more than ${mostPages} pages`);
}

function submit(html: string, url: string, typed: Readonly<Record<string, string>>) {
  const action = /<form[^>]*action="([^"]*)"/.exec(html)?.[1] ?? url;
  const body = new URLSearchParams();
  for (const [input] of html.matchAll(/<input[^>]*>/g)) {
    const name = /name="([^"]*)"/.exec(input)?.[1];
    if (name !== undefined) body.set(name, typed[name] ?? /value="([^"]*)"/.exec(input)?.[1] ?? '');
  }
  // Buttons: the page that compares codes is confirmed, or left by "abort".
  if (typed.abort !== undefined && html.includes('name="abort"')) body.set('abort', typed.abort);
  else if (html.includes('confirm')) body.set('confirm', 'yes');
  return { url: new URL(action, url).href, body };
}
