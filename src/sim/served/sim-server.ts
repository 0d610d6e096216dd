import { openDirectoryStore } from '../../blobs/directory-store.ts';
import type { Embedded } from '../../client/embedded.ts';
import { ControlPlane } from '../../control/control-plane.ts';
import { LeaseKeeper } from '../../control/leases.ts';
import { fireTimers } from '../../control/timers.ts';
import { system } from '../../core/access/principal.ts';
import { AgentHub } from '../../server/agents/agent-hub.ts';
import { blobDirectory, type Cluster } from '../cluster.ts';
import { KeptProgram } from '../kept-program.ts';
import type { Life } from '../life.ts';
import type { Machine } from '../machine.ts';
import { openSimLog } from '../sim-log.ts';
import type { Hearing } from './hearing.ts';

/** A server that answers. */
export interface Serving {
  readonly life: Life;
  readonly plane: ControlPlane;
  readonly hub: AgentHub;
}

/** The server's program, and whoever starts it again when it is gone. */
export class SimServer extends KeptProgram {
  readonly #hearing: Hearing;
  #serving: Serving | null = null;

  constructor(cluster: Cluster, machine: Machine, hearing: Hearing) {
    super(cluster, { name: 'server', machine, role: 'server' });
    this.#hearing = hearing;
  }

  /** Null while it does not listen. */
  get serving(): Serving | null {
    return this.#serving;
  }

  protected override closing(): void {
    this.#serving = null;
  }

  protected override gone(): void {
    this.#serving = null;
  }

  protected override pauseMs(): number {
    const { random, rates } = this.cluster;
    const isCalm = Object.values(rates.strikes).every((rate) => rate === 0) && this.#hearing.isCalm;
    const longestMs = random.pick([30, 500, 5000, 5000, 20_000, 60_000, 500_000]);
    return (isCalm ? 5000 : longestMs) * random.fraction();
  }

  protected override async serve(life: Life): Promise<void> {
    const { host, fail } = life;
    const log = await openSimLog(this.cluster, life);
    const plane = await ControlPlane.open(log, host, fail);
    const store = await openDirectoryStore({ directory: blobDirectory, host });
    const embedded: Embedded = { home: '/shared/home', host, plane, store, actor: system, onFault: fail };
    const leases = new LeaseKeeper(plane, host, fail);
    const hub = new AgentHub({
      embedded,
      times: plane.leaseTimes,
      heard: (node, instance) => {
        this.#hearing.heard(node, instance, plane.nowMs());
        leases.heard(node, instance);
      },
    });
    plane.subscribe(() => {});
    const ended = new AbortController();
    await leases.start(ended.signal);
    this.#hearing.began(plane.nowMs());
    this.#serving = { life, plane, hub };
    this.closeBy(async () => {
      this.#serving = null;
      ended.abort();
      hub.close();
      await timers;
      await plane.close();
    });
    const timers = fireTimers(plane, host, ended.signal).catch(fail);
    await timers;
  }
}
