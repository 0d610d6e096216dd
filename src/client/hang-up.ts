import { sleep } from '../host/clock.ts';
import type { Host } from '../host/host.ts';
import type { MarkedProcess } from '../host/processes.ts';

const killAfterMs = 2000;
const lookEveryMs = 50;

/**
 * Hangs up on a command that this process started and that still is its child: SIGHUP to it and to all that it started,
 * then SIGKILL to what is left of them 2 s later. Resolves when that is done.
 */
export async function hangUpOn({ processes, clock, timers }: Host, pid: number): Promise<void> {
  const leader = await processes.identify(pid);
  if (leader === null) return;
  // A mark that nothing carries: that of the task would find the task too.
  const find = () => processes.findMarked({ mark: `exec ${pid}`, directory: '/nowhere', leader });
  const first = await find();
  for (const one of first) await processes.signal(one, 'SIGHUP');
  const killAtMs = clock.bootMs() + killAfterMs;
  for (;;) {
    // What left the session is nobody's child once the command is gone: it is known from the first look alone.
    const left = await stillThere(processes, [...first, ...(await find())]);
    if (left.length === 0) return;
    if (clock.bootMs() < killAtMs) await sleep(timers, lookEveryMs);
    else return killAll(processes, left);
  }
}

async function stillThere(
  processes: Host['processes'],
  all: readonly MarkedProcess[],
): Promise<readonly MarkedProcess[]> {
  const left = new Map<number, MarkedProcess>();
  for (const one of all) if (await processes.isAlive(one)) left.set(one.pid, one);
  return [...left.values()];
}

async function killAll(processes: Host['processes'], left: readonly MarkedProcess[]): Promise<void> {
  for (const one of left) await processes.signal(one, 'SIGKILL');
}
