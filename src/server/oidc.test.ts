import { generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { RefusalError } from '../client/refusal-error.ts';
import { signInByDevice } from '../client/remote/device-flow.ts';
import { createHttp } from '../client/remote/http.ts';
import { createRemoteHost } from '../client/remote/remote.ts';
import { hurriedHost } from '../client/remote/rough-server.testsuite.ts';
import { clientId, type Issuer, startIssuer } from './issuer.testsuite.ts';
import { createIdentityVerifier } from './oidc.ts';
import { type Served, serve } from './served.testsuite.ts';

let issuer: Issuer;
beforeAll(async () => {
  // The provider tells there what should be configured for real use.
  vi.spyOn(console, 'info').mockImplementation(() => {});
  issuer = await startIssuer();
});
afterAll(() => issuer.close());

const nowS = (): number => Math.floor(Date.now() / 1000);

async function verify(token: string, claim = 'email'): Promise<string> {
  return createIdentityVerifier({ issuer: issuer.url, clientId, claim }).verify(token, Date.now());
}

describe('a token of the issuer', () => {
  it('names the user by the claim that was chosen, in lower case', async () => {
    expect(await verify(await issuer.sign({ email: 'Ada@Example.org' }))).toBe('ada@example.org');
    expect(await verify(await issuer.sign({}), 'sub')).toBe('ada');
  });

  it.each([
    ['is over', { exp: -3600, iat: -7200 }, /exp/],
    ['is not valid yet', { nbf: 3600 }, /nbf/],
    ['never ends', { exp: undefined }, /exp/],
  ])('that %s proves nothing', async (_what, times, message) => {
    const claims = Object.fromEntries(
      Object.entries(times).map(([key, value]) => [key, value === undefined ? undefined : nowS() + value]),
    );
    await expect(issuer.sign(claims).then((token) => verify(token))).rejects.toThrow(message);
  });

  it.each([
    ['for another program', { aud: 'another' }, /aud/],
    ['of another issuer', { iss: 'https://elsewhere.example.org' }, /iss/],
    ['without the claim', { email: undefined }, /no claim email/],
    ['with an address that nobody has checked', { email_verified: false }, /not verified/],
    ['with a name that could be taken for a path', { email: '../ada' }, /cannot be the name/],
  ])('%s lets nobody in [R4.13]', async (_what, claims, message) => {
    await expect(issuer.sign(claims).then((token) => verify(token))).rejects.toThrow(message);
  });

  it('counts only with a signature by a key of the issuer', async () => {
    const { privateKey } = await generateKeyPair('RS256');
    const claims = {
      iss: issuer.url,
      aud: clientId,
      sub: 'eve',
      email: 'eve@example.org',
      iat: nowS(),
      exp: nowS() + 300,
    };
    const forged = await new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'first' }).sign(privateKey);
    await expect(verify(forged)).rejects.toThrow(/signature/);
    const unknown = await new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'other' }).sign(privateKey);
    await expect(verify(unknown)).rejects.toBeInstanceOf(RefusalError);
    const shared = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', kid: 'first' })
      .sign(new Uint8Array(32));
    await expect(verify(shared)).rejects.toThrow(/alg/);
    const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    await expect(verify(`${part({ alg: 'none' })}.${part(claims)}.`)).rejects.toBeInstanceOf(RefusalError);
    await expect(verify('nonsense')).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  });

  it('waits for an issuer that cannot be asked, and says so', async () => {
    const away = createIdentityVerifier({ issuer: 'http://127.0.0.1:9', clientId, claim: 'sub' });
    await expect(away.verify('any', Date.now())).rejects.toMatchObject({ code: 'UNREACHABLE' });
  });
});

describe('signing in from a device without a browser', () => {
  let served: Served;
  beforeAll(async () => {
    served = await serve({ oidc: { issuer: issuer.url, clientId, claim: 'email' } });
  });
  afterAll(() => served.end());

  const at = (token: string | null) =>
    createHttp({ url: served.server.url, fingerprint: served.server.fingerprint, token }, createRemoteHost());

  it('ends with a token of the server, that names the user and ends', async () => {
    const anyone = at(null);
    const { oidc } = await anyone.call('health', {});
    expect(oidc).toEqual({ issuer: issuer.url, clientId });
    let confirmed: Promise<void> = Promise.resolve();
    const identity = await signInByDevice(
      { issuer: issuer.url, clientId },
      patientHost(() => confirmed),
      {
        show({ url, code }) {
          expect(url).toContain(code);
          confirmed = issuer.confirm(url, 'grace');
        },
      },
    );
    const signed = at(identity);
    const { name, token, expiresAt } = await signed.call('signIn', {});
    expect(name).toBe('grace@example.org');
    expect(Date.parse(expiresAt ?? '')).toBeGreaterThan(Date.now());
    const grace = at(token);
    expect(await grace.call('whoami', {})).toMatchObject({ name, admin: false, projects: { default: 'member' } });
    for (const http of [anyone, signed, grace]) http.close();
  });

  it('is refused where the person says no', async () => {
    let said: Promise<void> = Promise.resolve();
    const signing = signInByDevice(
      { issuer: issuer.url, clientId },
      patientHost(() => said),
      {
        show({ url }) {
          said = issuer.abort(url);
        },
      },
    );
    await expect(signing).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  });

  it('opens nothing with the token of the issuer itself', async () => {
    const identity = at(await issuer.sign({}));
    await expect(identity.call('whoami', {})).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    identity.close();
  });
});

/** Polls once the person is done, so that the test waits for that and for nothing else. */
function patientHost(done: () => Promise<void>) {
  const host = hurriedHost();
  return {
    ...host,
    timers: {
      after(delayMs: number, callback: () => void) {
        let cancel = (): void => {};
        void done().then(() => {
          cancel = host.timers.after(delayMs, callback);
        });
        return () => cancel();
      },
    },
  };
}
