import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';

/** Passes bytes on to a port of this machine, and cuts what goes through it when it is told. */
export interface CuttingProxy {
  readonly port: number;
  /** Where new connections go from now on. */
  target(port: number): void;
  /** Cuts every connection there is. */
  cut(): void;
  /** Cuts the connection that carries this many bytes in one direction, once. */
  cutAfter(bytes: number): void;
  readonly cuts: number;
  close(): Promise<void>;
}

export async function startCuttingProxy(first: number): Promise<CuttingProxy> {
  let target = first;
  let leftBytes = Number.POSITIVE_INFINITY;
  let cuts = 0;
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect({ host: '127.0.0.1', port: target });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      let passedBytes = 0;
      from.on('data', (part) => {
        passedBytes += part.length;
        if (passedBytes > leftBytes) {
          leftBytes = Number.POSITIVE_INFINITY;
          cuts += 1;
          from.destroy();
          to.destroy();
          return;
        }
        if (!to.write(part)) {
          from.pause();
          to.once('drain', () => from.resume());
        }
      });
      from.on('error', () => to.destroy());
      from.on('close', () => {
        open.delete(from);
        to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    target(port) {
      target = port;
    },
    cut() {
      cuts += 1;
      for (const socket of open) socket.destroy();
    },
    cutAfter(bytes) {
      leftBytes = bytes;
    },
    get cuts() {
      return cuts;
    },
    close() {
      for (const socket of open) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
