import { connect, createServer, type Server as NetServer, type Socket } from 'node:net';

/** Which direction is cut: of one that is `from-node`, the server hears nothing and is heard. */
export type Cut = 'none' | 'both' | 'from-node' | 'to-node';

/** The network between one node and its server: everything on it stops at a cut, and goes on late when that is healed. */
export class Wire {
  readonly #server: NetServer;
  readonly #ends = new Set<{ readonly near: Socket; readonly far: Socket }>();
  #cut: Cut = 'none';
  port = 0;

  constructor(toPort: number) {
    this.#server = createServer((near) => {
      const far = connect(toPort, '127.0.0.1');
      const ends = { near, far };
      this.#ends.add(ends);
      const end = (): void => {
        this.#ends.delete(ends);
        near.destroy();
        far.destroy();
      };
      for (const socket of [near, far]) socket.on('error', end).on('close', end);
      this.#apply(ends);
    });
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const address = this.#server.address();
    this.port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  }

  cut(how: Cut): void {
    this.#cut = how;
    for (const ends of this.#ends) this.#apply(ends);
  }

  close(): void {
    for (const { near, far } of this.#ends) {
      near.destroy();
      far.destroy();
    }
    this.#server.close();
  }

  #apply({ near, far }: { readonly near: Socket; readonly far: Socket }): void {
    near.unpipe(far);
    far.unpipe(near);
    if (this.#cut === 'none' || this.#cut === 'to-node') near.pipe(far);
    if (this.#cut === 'none' || this.#cut === 'from-node') far.pipe(near);
  }
}
