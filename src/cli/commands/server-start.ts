import { type LeaseTimes, leaseTimes } from '../../core/node/lease-times.ts';
import { parseDurationMs } from '../../core/units.ts';
import type { StartOptions } from '../../server/server.ts';
import type { ServerSettings } from '../../server/settings.ts';
import { type Context, type Invocation, type Options, textOption } from '../context.ts';
import { reportOf } from '../report-error.ts';
import { UsageError } from '../usage-error.ts';

/** Serves this home until it is told to end. */
export async function execute(context: Context, { options }: Invocation): Promise<number> {
  const settings = readServerOptions(options);
  const { Server } = await import('../../server/server.ts');
  const ended = untilEnd(context);
  const server = await Server.start({
    ...settings,
    home: context.home,
    log: { write: (line) => process.stderr.write(line) },
    onFault: ended.fail,
  });
  try {
    const { url, fingerprint, adminToken } = server;
    if (server.isFirstStart) {
      process.stderr.write(`administrator's token, shown once and kept in ${context.home}/server/admin.token\n`);
      process.stderr.write(`  ${adminToken}${server.parts.pin === null ? '' : `@${fingerprint}`}\n`);
    }
    context.output.item({ url, fingerprint }, () => `${url}  ${fingerprint}  Ctrl-C ends it`);
    await ended.promise;
    return 0;
  } catch (error) {
    context.output.error(reportOf(error, context.home));
    return 1;
  } finally {
    await server.close();
  }
}

/** Resolves when a signal asks for it, and fails when the server cannot go on. */
function untilEnd(context: Context): { readonly promise: Promise<void>; readonly fail: (error: unknown) => void } {
  let fail = (_error: unknown): void => {};
  const promise = new Promise<void>((resolve, reject) => {
    fail = reject;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) context.onSignal(signal, () => resolve());
  });
  // It may fail before anybody waits for it.
  promise.catch(() => {});
  return { promise, fail };
}

/** What was typed, checked; throws a UsageError that names the option. */
export function readServerOptions(options: Options): StartOptions {
  const store = textOption(options, 'store');
  if (store !== undefined && store !== 'sqlite') {
    const message = `--store ${store} is not known: the log is kept in SQLite, in the home`;
    throw new UsageError(message, 'leave --store out');
  }
  const listen = textOption(options, 'listen');
  const publicUrl = textOption(options, 'publicUrl');
  if (publicUrl !== undefined && !isHttps(publicUrl)) {
    throw new UsageError(`--public-url ${publicUrl} is no https:// address`, 'such as https://yard.example.org');
  }
  return {
    ...(listen === undefined ? {} : { listen: readListen(listen) }),
    tls: readPair(options),
    ...(publicUrl === undefined ? {} : { publicUrl }),
    oidc: readOidc(options),
    leaseTimes: readLeaseTimes(options),
  };
}

/** Shorter ones find a dead node sooner, and take a slow one for dead more easily. The rest follows from the lease. */
function readLeaseTimes(options: Options): LeaseTimes {
  const leaseMs = readDuration(options, 'lease') ?? leaseTimes.leaseMs;
  const graceMs = readDuration(options, 'grace') ?? leaseTimes.graceMs;
  const heartbeatMs = Math.min(leaseTimes.heartbeatMs, Math.floor(leaseMs / 6));
  const afterOutageMs = 10 * leaseMs;
  if (leaseMs < shortestLeaseMs) throw new UsageError(`--lease is ${leaseMs} ms`, 'at least 3s: a pause is no death');
  if (graceMs >= 2 * heartbeatMs) return { heartbeatMs, leaseMs, graceMs, afterOutageMs };
  throw new UsageError(`--grace is ${graceMs} ms`, 'longer than an agent needs to restart, such as 90s');
}

const shortestLeaseMs = 3000;

function readDuration(options: Options, name: string): number | null {
  const typed = textOption(options, name);
  if (typed === undefined) return null;
  const ms = parseDurationMs(typed);
  if (ms === null) throw new UsageError(`--${name} ${typed} is no length of time`, 'such as 90s or 5m');
  return ms;
}

function readListen(text: string): { host: string; port: number } {
  const found = /^(?:\[([0-9a-fA-F:.]+)\]|([^:\s]+)):(\d{1,5})$/.exec(text);
  const host = found?.[1] ?? found?.[2];
  const port = Number(found?.[3]);
  if (host !== undefined && port <= 65_535) return { host, port };
  throw new UsageError(`--listen ${text} is no host and port`, 'such as 0.0.0.0:7443 or [::]:7443');
}

function readPair(options: Options): ServerSettings['tls'] {
  const certPath = textOption(options, 'tlsCert');
  const keyPath = textOption(options, 'tlsKey');
  if (certPath === undefined && keyPath === undefined) return null;
  if (certPath !== undefined && keyPath !== undefined) return { certPath, keyPath };
  throw new UsageError('a certificate and its key come together', 'give both --tls-cert and --tls-key');
}

function readOidc(options: Options): ServerSettings['oidc'] {
  const issuer = textOption(options, 'oidcIssuer');
  const clientId = textOption(options, 'oidcClientId');
  const claim = textOption(options, 'oidcClaim');
  if (issuer === undefined && clientId === undefined && claim === undefined) return null;
  if (issuer === undefined || clientId === undefined) {
    throw new UsageError('an issuer and a client id come together', 'give both --oidc-issuer and --oidc-client-id');
  }
  return { issuer, clientId, claim: claim ?? 'email' };
}

function isHttps(text: string): boolean {
  return URL.canParse(text) && new URL(text).protocol === 'https:';
}
