import { sleep } from '../host/clock.ts';
import type { Host } from '../host/host.ts';

/** With less room than this nothing is started. */
export const roomToStartBytes = 64 * 1024 * 1024;
const ballastBytes = 256 * 1024 * 1024;
const plentyBytes = 4 * ballastBytes;
const lookMs = 5000;

/**
 * Watches the disk that holds the records. A full disk must stop starts and nothing else: the ballast, a file that
 * holds room back, is given up so that what runs can still be recorded, and comes back with plenty of room.
 */
export interface DiskGuard {
  /** Returns at once while there is room; otherwise when there is again, or when the signal aborts. */
  waitForRoom(signal: AbortSignal): Promise<void>;
  /** Called when a write failed for want of room. */
  giveUpBallast(): Promise<void>;
}

export async function createDiskGuard(host: Host, directory: string): Promise<DiskGuard> {
  const path = `${directory}/ballast`;
  const guard: DiskGuard = {
    async waitForRoom(signal) {
      while (!signal.aborted) {
        if ((await host.files.freeBytes(directory)) >= roomToStartBytes) return;
        await guard.giveUpBallast();
        await sleep(host.timers, lookMs, signal);
      }
    },
    async giveUpBallast() {
      await host.files.remove(path);
    },
  };
  const known = await host.files.stat(path);
  if (known === null && (await host.files.freeBytes(directory)) > plentyBytes) {
    await host.files.reserve(path, ballastBytes);
  }
  return guard;
}
