import { connect } from 'node:tls';
import type { Fingerprint } from './fingerprint.ts';
import { networkFaultOf } from './network-fault.ts';
import { fingerprintOf } from './pinned-agent.ts';

/** The certificate that a server shows, before anything is sent to it. */
export interface ShownCertificate {
  readonly fingerprint: Fingerprint;
  /** Signed for this very name by somebody whom this machine trusts. */
  readonly isTrusted: boolean;
}

const connectMs = 10_000;

/** Throws UNREACHABLE where nobody answers. */
export async function lookAtServer(url: string): Promise<ShownCertificate> {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  // An address is no name that could be asked for in the handshake.
  const servername = /^[\d.]+$|:/.test(host) ? {} : { servername: host };
  try {
    return await shownBy({ host, port: port === '' ? 443 : Number(port), ...servername });
  } catch (error) {
    throw networkFaultOf(error, url).error;
  }
}

function shownBy(options: { readonly host: string; readonly port: number; readonly servername?: string }) {
  return new Promise<ShownCertificate>((resolve, reject) => {
    const socket = connect({ ...options, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] }, () => {
      resolve({ fingerprint: fingerprintOf(socket), isTrusted: socket.authorized });
      socket.destroy();
    });
    socket.setTimeout(connectMs, () => socket.destroy(Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' })));
    socket.once('error', reject);
  });
}
