import type { Fact } from '../core/fact.ts';
import { HostError } from '../host/files.ts';
import type { FactLog } from '../log/fact-log.ts';
import { openMemoryLog } from '../log/memory.ts';
import { type Cluster, strikesNow } from './cluster.ts';
import type { Life } from './life.ts';
import type { ChanceKind } from './rates.ts';

/** Opens the log for one program, with the faults that a store may have: slow, full, failing, and answers that are lost. */
export async function openSimLog(cluster: Cluster, life: Life): Promise<FactLog<Fact>> {
  const { random } = cluster;
  const { incarnation, host, pid } = life;
  const happens = (kind: ChanceKind): boolean => strikesNow(cluster, kind);
  const log = await openMemoryLog<Fact>(cluster.store, host, {
    pid,
    pauses: {
      beforeLock: () =>
        incarnation.call(random.between(0.05, cluster.commitMs), () => {
          if (!happens('commitFails')) return;
          const code = random.pick(['ENOSPC', 'EIO']);
          throw new HostError(code, `${code}: the log could not be written`, '/shared/home/log');
        }),
      afterCommit: () =>
        incarnation.call(random.between(0.2, 6), () => {
          if (happens('replyLost')) throw new HostError('EIO', 'the outcome of the commit is unknown', null);
        }),
    },
  });
  return { ...log, watch: (listener) => watchBadly(log, { life, cluster, happens }, listener) };
}

/** A look is due every 100 ms whatever becomes of the bell. */
function watchBadly(
  log: FactLog<Fact>,
  given: { life: Life; cluster: Cluster; happens: (kind: 'bellLost' | 'bellTwice') => boolean },
  listener: () => void,
): () => void {
  const { life, cluster, happens } = given;
  let closed = false;
  const later = (delayMs: number): void => {
    life.host.timers.after(delayMs, () => {
      if (!closed) listener();
    });
  };
  const end = log.watch(() => {
    if (happens('bellLost')) later(cluster.random.between(10, 100));
    else listener();
    if (happens('bellTwice')) later(cluster.random.between(0, 20));
  });
  const endAll = (): void => {
    closed = true;
    end();
  };
  // Whoever is gone hears no bell: to ring it all the same would cost an event each.
  life.incarnation.onDeath(endAll);
  return endAll;
}
