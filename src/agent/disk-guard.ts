import { sleep } from '../host/clock.ts';
import type { Host } from '../host/host.ts';

/** With less room than this nothing is started. */
export const roomToStartBytes = 64 * 1024 * 1024;
const ballastBytes = 256 * 1024 * 1024;
const plentyBytes = 4 * ballastBytes;
const lookMs = 5000;
/** A disk that had room is not asked again for so long: a full one also shows in the writes themselves. */
const believeMs = 200;

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
  let seenMs = Number.NEGATIVE_INFINITY;
  const guard: DiskGuard = {
    async waitForRoom(signal) {
      if (host.clock.bootMs() - seenMs < believeMs) return;
      while (!signal.aborted) {
        if ((await host.files.freeBytes(directory)) >= roomToStartBytes) {
          seenMs = host.clock.bootMs();
          return;
        }
        await guard.giveUpBallast();
        await sleep(host.timers, lookMs, signal);
      }
    },
    async giveUpBallast() {
      seenMs = Number.NEGATIVE_INFINITY;
      await host.files.remove(path);
    },
  };
  const known = await host.files.stat(path);
  if (known === null && (await host.files.freeBytes(directory)) > plentyBytes) {
    await host.files.reserve(path, ballastBytes);
  }
  return guard;
}
