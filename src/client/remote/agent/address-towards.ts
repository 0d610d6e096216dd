import { createSocket } from 'node:dgram';

const loopback = '127.0.0.1';

/**
 * The address of this machine on the way to a server: where others of that network reach it, unless told otherwise.
 * Nothing is sent for that; the system only looks up the way.
 */
export function addressTowards(server: string): Promise<string> {
  const { hostname, port } = new URL(server);
  const host = hostname.replace(/^\[|\]$/g, '');
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  return new Promise((resolve) => {
    const finish = (address: string): void => {
      socket.close();
      resolve(address);
    };
    socket.once('error', () => finish(loopback));
    socket.connect(port === '' ? 443 : Number(port), host, () => finish(socket.address().address));
  });
}
