import { describe, expect, it } from 'vitest';
import { UsageError } from '../usage-error.ts';
import { readServerOptions } from './server-start.ts';

describe('the options of yard server start', () => {
  it('say where to listen, as what, and who people sign in with', () => {
    expect(readServerOptions({})).toMatchObject({ tls: null, oidc: null });
    expect(readServerOptions({})).not.toHaveProperty('listen');
    expect(
      readServerOptions({ listen: '[::1]:80', publicUrl: 'https://yard.example.org', store: 'sqlite' }),
    ).toMatchObject({
      listen: { host: '::1', port: 80 },
      publicUrl: 'https://yard.example.org',
      tls: null,
      oidc: null,
    });
    expect(readServerOptions({ tlsCert: 'a', tlsKey: 'b', oidcIssuer: 'https://id', oidcClientId: 'c' })).toMatchObject(
      {
        tls: { certPath: 'a', keyPath: 'b' },
        oidc: { issuer: 'https://id', clientId: 'c', claim: 'email' },
      },
    );
  });

  it('are refused in words where they mean nothing', () => {
    for (const [options, message] of [
      [{ store: 'postgres://db' }, '--store postgres://db is not known: the log is kept in SQLite, in the home'],
      [{ listen: '7443' }, '--listen 7443 is no host and port'],
      [{ listen: 'localhost:70000' }, '--listen localhost:70000 is no host and port'],
      [{ publicUrl: 'http://yard' }, '--public-url http://yard is no https:// address'],
      [{ tlsCert: 'a' }, 'a certificate and its key come together'],
      [{ oidcIssuer: 'https://id' }, 'an issuer and a client id come together'],
    ] as const) {
      expect(() => readServerOptions(options)).toThrow(expect.objectContaining({ message, name: UsageError.name }));
    }
  });
});
