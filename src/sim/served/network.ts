import { RefusalError } from '../../client/refusal-error.ts';
import type { Link, LinkListener } from '../../client/remote/agent/link.ts';
import { refuse } from '../../core/refusal.ts';
import type { Life } from '../life.ts';
import type { Serving, SimServer } from './sim-server.ts';
import type { Ways } from './ways.ts';
import { WireEnd } from './wire.ts';

const handshakeMs = 15_000;
/** Nobody waits for an answer any longer, and what arrives later is not carried out. */
export const requestMs = 60_000;

/** How programs reach the server: agents by a connection that stays, all others by requests. */
export class ServedNetwork {
  readonly ways: Ways;
  readonly #server: SimServer;
  /** The agents' ends. */
  #ends: readonly WireEnd[] = [];

  constructor(ways: Ways, server: SimServer) {
    this.ways = ways;
    this.#server = server;
  }

  /** Who listens now; null when nobody does. */
  get serving(): Serving | null {
    return this.#server.serving;
  }

  /** Connections of agents that go on as far as the agents know. */
  get open(): readonly WireEnd[] {
    return this.#ends.filter((end) => end.isOpen);
  }

  /** As `connectAgent`: a RefusalError where the key is not that of the node. */
  connect(life: Life, options: { node: string; keyHash: string }, listener: LinkListener): Promise<Link> {
    const { toServer, fromServer } = this.ways.pathOf(life.machine);
    return this.#ask<Link>(
      life,
      { withinMs: handshakeMs, late: () => new Error('no answer came in time') },
      (answer) => {
        const { serving } = this;
        if (serving === null) return answer(() => Promise.reject(new Error('nobody listens')));
        if (serving.plane.state.access.nodeKeys.get(options.node)?.hash !== options.keyHash) {
          const refusal = refuse('UNAUTHORIZED', `the key of node ${options.node} is not known`);
          return answer(() => Promise.reject(new RefusalError(refusal)));
        }
        const near = new WireEnd(this.ways, life, toServer);
        const far = new WireEnd(this.ways, serving.life, fromServer);
        WireEnd.tie(near, far);
        this.#ends = [...this.open, near];
        far.listen(serving.hub.accept(far, options.node));
        return answer(() => {
          near.listen(listener);
          return Promise.resolve(near);
        });
      },
    );
  }

  /** A request that the server carries out. Rejects with UNREACHABLE when no answer comes; it may have had its effect. */
  request<Result>(life: Life, work: (serving: Serving) => Promise<Result>): Promise<Result> {
    const fails = (why: string) => (): Promise<Result> => Promise.reject(unreachable(why));
    return this.#ask(life, { withinMs: requestMs, late: () => unreachable('no answer came in time') }, (answer) => {
      const { serving } = this;
      if (serving === null) return answer(fails('nobody listens'));
      if (this.ways.happens('breakBefore')) return answer(fails('the connection broke'));
      serving.life.incarnation.onDeath(() => answer(fails('the server is gone')));
      const isCut = this.ways.happens('breakAfter');
      work(serving).then(
        (result) => answer(isCut ? fails('the connection broke') : () => Promise.resolve(result)),
        // One that stops lets go of whoever it has not answered by then.
        (error: unknown) => answer(this.serving === serving ? () => Promise.reject(error) : fails('the server stops')),
      );
    });
  }

  /** There and back. Whoever waits for too long gives up; what comes then is ended or forgotten. */
  #ask<Result>(
    life: Life,
    { withinMs, late }: { withinMs: number; late: () => Error },
    carryOut: (answer: (open: () => Promise<Result>) => void) => void,
  ): Promise<Result> {
    const { toServer, fromServer } = this.ways.pathOf(life.machine);
    return new Promise<Result>((resolve, reject) => {
      let isOver = false;
      const giveUp = life.incarnation.after(withinMs, () => {
        isOver = true;
        reject(late());
      });
      let isAnswered = false;
      const answer = (open: () => Promise<Result>): void => {
        if (isAnswered) return;
        isAnswered = true;
        this.ways.send(fromServer, this.ways.delayMs(), () => {
          if (isOver || !life.incarnation.alive) return;
          isOver = true;
          giveUp();
          open().then(resolve, reject);
        });
      };
      this.ways.send(toServer, this.ways.delayMs(), () => {
        if (!isOver && life.incarnation.alive) carryOut(answer);
      });
    });
  }
}

function unreachable(why: string): RefusalError {
  return new RefusalError(refuse('UNREACHABLE', `the server does not answer: ${why}`));
}
