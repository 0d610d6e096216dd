import { roomToStartBytes } from '../agent/disk-guard.ts';
import type { Job, Task } from '../core/job/job.ts';
import { describeBytes } from '../core/units.ts';
import type { Embedded } from './embedded.ts';

/** With less than this not even what happens can be written down. */
const fullBytes = 64 * 1024;

/** Why a task that has its node does not go on there: its disk has no room for it; null where it has. */
export async function whyHeldUp({ home, host, plane }: Embedded, job: Job): Promise<string | null> {
  const tasks = [...job.elements.values()].flatMap((element) => (element.kind === 'live' ? element.tasks : []));
  if (tasks.length === 0) return null;
  const freeBytes = await host.files.freeBytes(home);
  // A node that joined a server starts its tasks on a disk of its own.
  const isHere = ({ node }: Task): boolean => plane.state.nodes.get(node)?.leased !== true;
  const need = whatNeedsMore(tasks, { isHere, freeBytes });
  if (need === null) return null;
  return `waits for room on the disk of ${home}: ${describeBytes(freeBytes)} free, ${need} (yard prune)`;
}

function whatNeedsMore(
  tasks: readonly Task[],
  { isHere, freeBytes }: { isHere: (task: Task) => boolean; freeBytes: number },
): string | null {
  if (freeBytes >= roomToStartBytes) return null;
  if (freeBytes < fullBytes) return 'and what happens to it cannot be written down';
  if (tasks.some((task) => isHere(task) && isAboutToStart(task)))
    return `${describeBytes(roomToStartBytes)} needed to start`;
  return tasks.some(({ step }) => step === 'collect') ? 'its outputs need more' : null;
}

/** For the first time, or once more after it ended. */
function isAboutToStart({ step, started, restarts, ready }: Task): boolean {
  return startingSteps.has(step) && (!started || (restarts > 0 && ready === false));
}

const startingSteps: ReadonlySet<string> = new Set(['materialize', 'setup', 'prepare', 'run']);
