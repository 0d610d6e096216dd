import { Agent } from '../agent/agent.ts';
import type { AgentChannel } from '../agent/channel.ts';
import { openDirectoryStore } from '../blobs/directory-store.ts';
import { ControlPlane } from '../control/control-plane.ts';
import { OrderFeed } from '../control/order-feed.ts';
import { fireTimers } from '../control/timers.ts';
import type { Capacity } from '../core/node/node.ts';
import { isRefusal } from '../core/refusal.ts';
import { toHex } from '../host/hex.ts';
import { blobDirectory, type Cluster } from './cluster.ts';
import { Refused } from './expected-fault.ts';
import { KeptProgram } from './kept-program.ts';
import type { Life } from './life.ts';
import type { Machine } from './machine.ts';
import { openSimLog } from './sim-log.ts';

/** A node's name, and whoever keeps its agent running: one at a time, started again whenever it is gone. */
export class SimNode extends KeptProgram {
  readonly capacity: Capacity;
  #plane: ControlPlane | null = null;

  constructor(cluster: Cluster, options: { name: string; machine: Machine; capacity: Capacity }) {
    super(cluster, { ...options, role: 'agent' });
    this.capacity = options.capacity;
  }

  /** The control plane of its agent; null while it has none. */
  get plane(): ControlPlane | null {
    return this.#plane;
  }

  protected override gone(): void {
    this.#plane = null;
  }

  protected override pauseMs(): number {
    const { random } = this.cluster;
    return random.pick([1, 30, 500, 5000]) * random.fraction();
  }

  protected override async serve(life: Life): Promise<void> {
    const { name, capacity } = this;
    const { host, fail } = life;
    const directory = `/node/${name}`;
    const instance = toHex(host.chance.bytes(8));
    const log = await openSimLog(this.cluster, life);
    const plane = await ControlPlane.open(log, host, fail);
    this.#plane = plane;
    const store = await openDirectoryStore({ directory: blobDirectory, host });
    await host.files.makeDirectory(directory, { mode: 0o700 });
    await plane.catchUp();
    const agent = await Agent.start({
      host,
      channel: channelOf(this.cluster, { plane, node: name, instance }),
      store,
      directory,
      node: name,
      instance,
      capacity,
      advertise: '127.0.0.1',
      version: '0.0.0',
      environment: { PATH: '/bin' },
      onFault: fail,
    });
    const timers = new AbortController();
    fireTimers(plane, host, timers.signal).catch(fail);
    this.closeBy(async () => {
      timers.abort();
      await agent.close({ leave: true });
      await plane.close();
    });
  }
}

/** The agent's way to the control plane in its own process, as the embedded client makes it. */
function channelOf(
  { history }: Cluster,
  { plane, node, instance }: { plane: ControlPlane; node: string; instance: string },
): AgentChannel {
  const execute: ControlPlane['execute'] = async (command, options) => {
    const answer = await plane.execute(command, options);
    if (!isRefusal(answer)) return answer;
    history.refusals.push(answer);
    throw new Refused(answer);
  };
  return {
    join: async (hello) => void (await execute({ kind: 'JoinNode', ...(await hello()), leased: false, wallMs: null })),
    follow: (listener) => {
      const feed = new OrderFeed(plane, node, listener);
      return () => feed.close();
    },
    report: async (report) => {
      const answer = await execute({ kind: 'NodeReport', node, instance, ...report });
      return !isRefusal(answer) && answer.kind === 'reported' ? answer.stale : [];
    },
    leave: async () => void (await execute({ kind: 'LeaveNode', node, instance })),
  };
}
