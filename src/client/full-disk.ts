import { roomToStartBytes } from '../agent/disk-guard.ts';
import type { Job, Task } from '../core/job/job.ts';
import { describeBytes } from '../core/units.ts';
import type { Embedded } from './embedded.ts';

/** Why a task that has its node does not start there: its disk has no room for one more; null where it has. */
export async function whyHeldUp({ home, host }: Embedded, job: Job): Promise<string | null> {
  const isStarting = [...job.elements.values()].some(
    (element) => element.kind === 'live' && element.tasks.some(isAboutToStart),
  );
  if (!isStarting) return null;
  const freeBytes = await host.files.freeBytes(home);
  if (freeBytes >= roomToStartBytes) return null;
  const least = describeBytes(roomToStartBytes);
  return `waits for room on the disk of ${home}: ${describeBytes(freeBytes)} free, ${least} needed to start (yard prune)`;
}

/** For the first time, or once more after it ended. */
function isAboutToStart({ step, started, restarts, ready }: Task): boolean {
  return startingSteps.has(step) && (!started || (restarts > 0 && ready === false));
}

const startingSteps: ReadonlySet<string> = new Set(['materialize', 'setup', 'prepare', 'run']);
