import { setMaxListeners } from 'node:events';
import { type DestinationStream, pino } from 'pino';
import { type OpenEmbedded, openEmbedded } from '../client/open-embedded.ts';
import { LeaseKeeper } from '../control/leases.ts';
import { fireTimers } from '../control/timers.ts';
import type { LeaseTimes } from '../core/node/lease-times.ts';
import { takeExclusiveLock } from '../log/exclusive-lock.ts';
import { firstAdminToken } from './admin-token.ts';
import { AgentHub } from './agents/agent-hub.ts';
import { askAgents } from './agents/ask-agents.ts';
import { LogStore } from './agents/log-store.ts';
import { createAllowedHosts, hostOf, plainAddress } from './allowed-hosts.ts';
import { createApp } from './app.ts';
import { type Certificate, loadCertificate } from './certificate.ts';
import { createGuessLimits } from './guess-limits.ts';
import { refused } from './http-refusal.ts';
import { createListener, listen, stopListening } from './listen.ts';
import { createMetrics } from './metrics.ts';
import { createIdentityVerifier } from './oidc.ts';
import { createRecentAnswers } from './recent-answers.ts';
import { createRequestNotes } from './request-notes.ts';
import type { ServerParts } from './server-parts.ts';
import { defaultLimits, defaultListen, type ServerLimits, type ServerSettings } from './settings.ts';

export interface StartOptions extends Partial<Omit<ServerSettings, 'limits'>> {
  /** Default: `RUNYARD_HOME`, else `~/.runyard`. */
  readonly home?: string;
  readonly limits?: Partial<ServerLimits>;
  /** Where its log goes, one JSON line at a time; default: nowhere. */
  readonly log?: DestinationStream;
  /** Told when the server cannot go on. */
  readonly onFault?: (error: unknown) => void;
  /** How long nodes may be silent. */
  readonly leaseTimes?: LeaseTimes;
}

/** The control plane of a home directory over HTTP. */
export interface Server {
  /** `https://host:port`, as it is to be told to clients. */
  readonly url: string;
  readonly port: number;
  /** `sha256:…` of its certificate, for clients to pin. */
  readonly fingerprint: string;
  /** The token that was made for an administrator at the first start. */
  readonly adminToken: string;
  /** True at the first start: the token has not been shown to anybody yet. */
  readonly isFirstStart: boolean;
  readonly parts: ServerParts;
  /**
   * Takes no new connection, ends streams so that their clients resume elsewhere, lets requests finish for as long as
   * the limits say, and closes the log.
   */
  close(): Promise<void>;
}

export const Server = {
  /** Resolves once it listens. */
  async start(options: StartOptions = {}): Promise<Server> {
    const { home, onFault, leaseTimes } = options;
    const opened = await openEmbedded({
      ...(home === undefined ? {} : { home }),
      ...(onFault === undefined ? {} : { onFault }),
      ...(leaseTimes === undefined ? {} : { leaseTimes }),
    });
    try {
      return await startOn(opened, settingsOf(options), options.log ?? nowhere);
    } catch (error) {
      await opened.close();
      throw error;
    }
  },
};

/** Levels by their names, as people look for them. */
const formatters = { level: (level: string) => ({ level }) };

const nowhere: DestinationStream = { write: () => {} };

function settingsOf(options: StartOptions): ServerSettings {
  return {
    listen: options.listen ?? defaultListen,
    tls: options.tls ?? null,
    publicUrl: options.publicUrl ?? null,
    oidc: options.oidc ?? null,
    limits: { ...defaultLimits, ...options.limits },
  };
}

async function startOn(opened: OpenEmbedded, settings: ServerSettings, log: DestinationStream): Promise<Server> {
  const { embedded } = opened;
  const { host, home } = embedded;
  const certificate = await loadCertificate(host, { home, files: settings.tls, listenHost: settings.listen.host });
  const pin = settings.tls === null ? certificate.fingerprint : null;
  const lock = await takeExclusiveLock(`${home}/server/lock.db`, host);
  if (lock === null) {
    throw refused('WRONG_STATE', `another server runs on ${home} already`, { hint: 'end it, or name another --home' });
  }
  const admin = await firstAdminToken(embedded, pin).catch((error: unknown) => {
    lock.release();
    throw error;
  });
  const stopping = new AbortController();
  // Every request listens to it.
  setMaxListeners(0, stopping.signal);
  const leases = new LeaseKeeper(embedded.plane, host, embedded.onFault);
  const parts = makeParts(opened, { settings, log, certificate, pin, leases, stopping: stopping.signal });
  const listener = createListener(parts, createApp(parts), certificate);
  // What other processes on this home do is seen as it happens.
  const unsubscribe = embedded.plane.subscribe(() => {});
  await leases.start(stopping.signal);
  const port = await listen(listener.https, settings.listen).catch((error: unknown) => {
    stopping.abort();
    lock.release();
    throw error;
  });
  const timers = fireTimers(embedded.plane, host, stopping.signal).catch(embedded.onFault);
  parts.log.info({ url: urlOf(settings, port), fingerprint: certificate.fingerprint }, 'listening');
  const end = async (): Promise<void> => {
    stopping.abort();
    parts.agents.close();
    await stopListening(listener, settings.limits.stopMs);
    await timers;
    unsubscribe();
    parts.metrics.close();
    await opened.close();
    lock.release();
  };
  let closing: Promise<void> | null = null;
  return {
    url: urlOf(settings, port),
    port,
    fingerprint: certificate.fingerprint,
    adminToken: admin.token,
    isFirstStart: admin.isNew,
    parts,
    close() {
      closing ??= end();
      return closing;
    },
  };
}

function makeParts(
  { embedded: own, store }: OpenEmbedded,
  given: {
    settings: ServerSettings;
    log: DestinationStream;
    certificate: Certificate;
    pin: string | null;
    leases: LeaseKeeper;
    stopping: AbortSignal;
  },
): ServerParts {
  const { settings, certificate, pin, leases, stopping } = given;
  const { clock } = own.host;
  const agents = new AgentHub({
    embedded: own,
    times: own.plane.leaseTimes,
    heard: (node, instance) => leases.heard(node, instance),
  });
  const embedded = { ...own, elsewhere: askAgents(agents) };
  const log = pino(
    {
      base: null,
      timestamp: () => `,"at":"${new Date(clock.wallMs()).toISOString()}"`,
      messageKey: 'message',
      formatters,
    },
    given.log,
  );
  const metrics = createMetrics(embedded);
  return {
    settings,
    embedded,
    store,
    pin,
    log,
    metrics,
    guesses: createGuessLimits(clock, settings.limits),
    identities: settings.oidc === null ? null : createIdentityVerifier(settings.oidc),
    recent: createRecentAnswers(clock),
    notes: createRequestNotes({ log, metrics, clock }),
    hosts: createAllowedHosts(allowedNames(settings, certificate)),
    agents,
    logs: new LogStore(own),
    stopping,
  };
}

function allowedNames({ listen: { host }, publicUrl }: ServerSettings, { names }: Certificate): ReadonlySet<string> {
  const open = publicUrl === null ? null : hostOf(new URL(publicUrl).host);
  return new Set([...names, plainAddress(host.toLowerCase()), 'localhost', ...(open === null ? [] : [open])]);
}

/** An address that stands for all of them is none that a client could use. */
function urlOf({ listen: { host }, publicUrl }: ServerSettings, port: number): string {
  if (publicUrl !== null) return publicUrl.replace(/\/+$/, '');
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `https://${name.includes(':') ? `[${name}]` : name}:${port}`;
}
