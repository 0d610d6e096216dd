import { createHash } from 'node:crypto';
import { Agent, type AgentOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import type { Fingerprint } from './fingerprint.ts';

/** Another certificate than the one that was pinned; `found` is what was shown. */
export class UntrustedError extends Error {
  readonly found: Fingerprint;
  constructor(found: Fingerprint, expected: Fingerprint) {
    super(`it shows the certificate ${found}, and ${expected} was expected`);
    this.name = 'UntrustedError';
    this.found = found;
  }
}

const connectMs = 10_000;

/** Connections that stay open between requests, each to a server whose certificate is the pinned one. */
export class PinnedAgent extends Agent {
  readonly #fingerprint: Fingerprint;

  constructor(fingerprint: Fingerprint, options: AgentOptions) {
    super(options);
    this.#fingerprint = fingerprint;
  }

  /** The connection is handed out only once the certificate was looked at: nothing is sent to anybody else. */
  override createConnection(
    options: ConnectionOptions,
    done?: (error: Error | null, stream: Duplex) => void,
  ): Duplex | null | undefined {
    connectPinned(this.#fingerprint, options).then(
      (socket) => done?.(null, socket),
      // Node's types want a stream even where there is none.
      (error: Error) => (done as ((error: Error) => void) | undefined)?.(error),
    );
    return undefined;
  }
}

/** A TLS connection to the server with this very certificate, whoever signed it and whatever names it has. */
export function connectPinned(fingerprint: Fingerprint | null, options: ConnectionOptions): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    // A resumed session would not show the certificate again.
    const pinned = fingerprint === null ? {} : { rejectUnauthorized: false, session: undefined };
    const socket = connect({ ...options, ...pinned, ALPNProtocols: ['http/1.1'] });
    const fail = (error: Error): void => {
      socket.destroy();
      reject(error);
    };
    socket.setTimeout(connectMs, () => fail(timedOut()));
    socket.once('error', fail);
    socket.once('secureConnect', () => {
      const found = fingerprintOf(socket);
      if (fingerprint !== null && found !== fingerprint) return fail(new UntrustedError(found, fingerprint));
      socket.setTimeout(0);
      socket.off('error', fail);
      return resolve(socket);
    });
  });
}

function timedOut(): Error {
  return Object.assign(new Error(`no connection within ${connectMs / 1000} s`), { code: 'ETIMEDOUT' });
}

export function fingerprintOf(socket: TLSSocket): Fingerprint {
  const { raw } = socket.getPeerCertificate(false);
  return `sha256:${createHash('sha256')
    .update(raw ?? new Uint8Array())
    .digest('hex')}`;
}
