import { mkdirSync } from 'node:fs';
import type { Host } from '../host/host.ts';
import { takeExclusiveLock } from '../log/exclusive-lock.ts';

/** True when some process of this machine holds the node's name, this one included. */
export async function isServedHere(
  { home, host }: { readonly home: string; readonly host: Pick<Host, 'clock' | 'timers' | 'chance'> },
  name: string,
): Promise<boolean> {
  const directory = `${home}/nodes/${name}`;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const lock = await takeExclusiveLock(`${directory}/lock.db`, host);
  lock?.release();
  return lock === null;
}
