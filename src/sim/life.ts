import type { Host } from '../host/host.ts';
import { type Cluster, logSeq, strikesNow } from './cluster.ts';
import { describeFault } from './expected-fault.ts';
import { Incarnation } from './incarnation.ts';
import type { Machine } from './machine.ts';
import { createVirtualHost } from './virtual-host.ts';

/** One running program of the cluster: an agent's process, a client's, or a server's. */
export interface Life {
  readonly name: string;
  readonly role: 'agent' | 'client' | 'server';
  readonly machine: Machine;
  readonly incarnation: Incarnation;
  readonly host: Host;
  readonly pid: number;
  /** Ends it because of an error; one that no fault explains is remembered as a bug. */
  readonly fail: (error: unknown) => void;
}

/** Starts a program. `main` may go on for ever; when it rejects, the program has failed. `onEnd` is told of any end. */
export function startLife(
  cluster: Cluster,
  options: {
    name: string;
    role: Life['role'];
    machine: Machine;
    main: (life: Life) => Promise<void>;
    onEnd: () => void;
  },
): Life {
  const { world, random, truth, history, lives, sharedDisk } = cluster;
  const { name, role, machine, main, onEnd } = options;
  const incarnation = new Incarnation(machine, name);
  const process = machine.table.start({ role, parent: null, leads: true, mark: null, logsIn: null });
  const host = createVirtualHost({
    incarnation,
    machine,
    random: random.fork(),
    truth,
    ownPid: process.pid,
    logSeq: () => logSeq(cluster),
    sharedDisk,
    lateNotices: cluster.rates.chances.lateNotice,
    onLateNotice: () => void cluster.history.faults.add('lateNotice'),
    shimDies: () => strikesNow(cluster, 'shimDies'),
    stallMs: () => {
      if (!strikesNow(cluster, 'stalls')) return 0;
      // Whoever adopts what a shim has not begun yet must settle who may begin it.
      if (cluster.killsAtStalls && random.happens(0.5))
        incarnation.after(random.between(0, 30), () => incarnation.kill());
      return random.between(1, 3000);
    },
  });
  const fail = (error: unknown): void => {
    if (!incarnation.alive) return;
    const { isExpected, text } = describeFault(error);
    if (!isExpected) history.bugs.push(`${name}: ${text}`);
    world.note(name, `fails: ${text.split('\n', 1)[0]}`);
    incarnation.kill();
  };
  const life: Life = { name, role, machine, incarnation, host, pid: process.pid, fail };
  lives.add(life);
  incarnation.onDeath(() => {
    lives.delete(life);
    machine.table.end(process, null);
    world.note(name, 'is gone');
    onEnd();
  });
  world.note(name, `starts as process ${process.pid}`);
  main(life).catch(fail);
  return life;
}
