import { prepareHome } from '../home.ts';
import type { ServerAddress } from './outgoing.ts';
import { RemoteRunyard } from './remote-runyard.ts';
import { readServerUrl, readToken } from './server-url.ts';

export interface ConnectOptions {
  /** `https://host:port`. */
  readonly server: string;
  /** Default: RUNYARD_TOKEN. One with `@sha256:…` pins the server's certificate. */
  readonly token?: string;
  /** Of the server's certificate; without one, those that this machine trusts must have signed it. */
  readonly fingerprint?: string;
  /** This user's own folder; default: RUNYARD_HOME, else `~/.runyard`. */
  readonly home?: string;
  /** Told when the server cannot be reached for a while, and when it can be again. */
  readonly onNote?: (message: string) => void;
}

/** A client of a server. Nothing is sent before the first call. */
export async function connect(options: ConnectOptions): Promise<RemoteRunyard> {
  const given = options.token ?? process.env.RUNYARD_TOKEN;
  const { token, fingerprint } = given === undefined ? { token: null, fingerprint: null } : readToken(given);
  const address = { url: readServerUrl(options.server), token, fingerprint: options.fingerprint ?? fingerprint };
  return connectRemote({ ...options, address });
}

export async function connectRemote({
  address,
  home,
  onNote,
}: {
  readonly address: ServerAddress;
  readonly home?: string;
  readonly onNote?: (message: string) => void;
}): Promise<RemoteRunyard> {
  return new RemoteRunyard({
    address,
    home: await prepareHome(home),
    ...(onNote === undefined ? {} : { onNote }),
  });
}
