import { prepareHome } from '../home.ts';
import type { ConnectOptions } from './connect-options.ts';
import type { ServerAddress } from './outgoing.ts';
import { RemoteRunyard } from './remote-runyard.ts';
import { readServerUrl, readToken } from './server-url.ts';

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
