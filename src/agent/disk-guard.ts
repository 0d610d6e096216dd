import { sleep } from '../host/clock.ts';
import type { Files } from '../host/files.ts';
import type { Host } from '../host/host.ts';

/** With less room than this nothing is started. */
export const roomToStartBytes = 64 * 1024 * 1024;
const roomToBeginBytes = 1024 * 1024;
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
  const path = ballastPath(directory);
  let seenMs = Number.NEGATIVE_INFINITY;
  let isHeld = (await host.files.stat(path)) !== null;
  const holdAgain = async (freeBytes: number): Promise<void> => {
    if (isHeld || freeBytes <= plentyBytes) return;
    await host.files.reserve(path, ballastBytes);
    isHeld = true;
  };
  const guard: DiskGuard = {
    async waitForRoom(signal) {
      if (host.clock.bootMs() - seenMs < believeMs) return;
      while (!signal.aborted) {
        const freeBytes = await host.files.freeBytes(directory);
        if (freeBytes >= roomToStartBytes) {
          seenMs = host.clock.bootMs();
          await holdAgain(freeBytes);
          return;
        }
        await guard.giveUpBallast();
        await sleep(host.timers, lookMs, signal);
      }
    },
    async giveUpBallast() {
      seenMs = Number.NEGATIVE_INFINITY;
      isHeld = false;
      await host.files.remove(path);
    },
  };
  await holdAgain(await host.files.freeBytes(directory));
  return guard;
}

/** For an agent that begins on a full disk: what it must write before it can look after what runs is worth the ballast. */
export async function makeRoomToBegin(files: Files, directory: string): Promise<void> {
  const path = ballastPath(directory);
  if ((await files.stat(path)) === null || (await files.freeBytes(directory)) >= roomToBeginBytes) return;
  await files.remove(path);
}

function ballastPath(directory: string): string {
  return `${directory}/ballast`;
}
