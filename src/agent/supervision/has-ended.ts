import { sleep } from '../../host/clock.ts';
import type { Host } from '../../host/host.ts';
import { type RecordPlace, readRunRecord } from '../records.ts';

/** The answer that the end of a process cuts off may come some moments before the process is gone. */
const leavingMs = 50;

/** Whether a run that was found not to be alive has ended by itself: then its exit says better why than any probe. */
export async function hasEnded(host: Host, place: RecordPlace, signal: AbortSignal): Promise<boolean> {
  const run = await readRunRecord(place);
  if (run === null) return false;
  if (!(await host.processes.isAlive(run.process))) return true;
  await sleep(host.timers, leavingMs, signal);
  return !(await host.processes.isAlive(run.process));
}
