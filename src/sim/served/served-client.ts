import type { ControlPlane } from '../../control/control-plane.ts';
import { sleep } from '../../host/clock.ts';
import type { ClientPlane } from '../client-actions.ts';
import type { Cluster } from '../cluster.ts';
import { KeptPerson, type PersonOptions } from '../kept-person.ts';
import type { Life } from '../life.ts';
import { act, type Habits } from '../person.ts';
import { hashState } from '../state-hash.ts';
import type { ServedNetwork } from './network.ts';
import { bringToRest, meddleServed } from './served-actions.ts';
import type { Serving } from './sim-server.ts';

/** Somebody with a terminal, signed in at the server. */
export class ServedClient extends KeptPerson {
  readonly #network: ServedNetwork;

  constructor(cluster: Cluster, network: ServedNetwork, options: PersonOptions) {
    super(cluster, options);
    this.#network = network;
  }

  protected override async serve(life: Life): Promise<void> {
    const { random } = this.cluster;
    const sample = (): Promise<void> => this.#sample(life);
    const habits: Habits = { submits: 0.5, meddles: 0.8, meddle: meddleServed, sample, readsFirst: false, bringToRest };
    const longestPauseMs = random.pick([3000, 15_000, 60_000]);
    for (;;) {
      await sleep(life.host.timers, random.between(20, this.isCalm ? 3000 : longestPauseMs));
      // Nobody can ask for anything while the server is away: it is looked for again later.
      const { serving } = this.#network;
      if (serving === null) continue;
      await act(this, { cluster: this.cluster, life, plane: planeOf(this.#network, life, serving) }, habits);
    }
  }

  /** What the server holds, for the comparison with the log: looked at while nothing else happens there. */
  async #sample(life: Life): Promise<void> {
    await this.#network.request(life, async ({ plane }) => {
      await plane.catchUp();
      this.cluster.history.samples.push({ who: 'server', seq: plane.seq, hash: hashState(plane.state) });
    });
  }
}

/** The server's control plane as one who is signed in there has it: everything that it is asked travels. */
function planeOf(network: ServedNetwork, life: Life, { plane }: Serving): ClientPlane {
  return {
    get state() {
      return plane.state;
    },
    get seq() {
      return plane.seq;
    },
    get log() {
      const recordBlobs: ControlPlane['log']['recordBlobs'] = (hashes) =>
        network.request(life, (serving) => serving.plane.log.recordBlobs(hashes));
      return { ...plane.log, recordBlobs };
    },
    nowMs: () => plane.nowMs(),
    execute: (command, options) => network.request(life, (serving) => serving.plane.execute(command, options)),
    catchUp: () => network.request(life, (serving) => serving.plane.catchUp()),
  };
}
