import type { Files } from '../host/files.ts';

/** A small file beside the log that is written after each commit, since watching the log itself tells too early. */
export interface Doorbell {
  ring(): void;
  watch(listener: () => void): () => void;
  /** Resolves when no ring is under way. */
  settled(): Promise<void>;
}

export async function createDoorbell(files: Files, path: string): Promise<Doorbell> {
  await files.createExclusive(path, new Uint8Array(1));
  let ringing: Promise<void> | null = null;
  let again = false;
  const ring = async (): Promise<void> => {
    do {
      again = false;
      // A ring that fails costs nobody more than their next look at the log, at most a second later.
      await files.write(path, new Uint8Array(1), { inPlace: true }).catch(() => undefined);
    } while (again);
    ringing = null;
  };
  return {
    ring: () => {
      if (ringing === null) ringing = ring();
      else again = true;
    },
    watch: (listener) => files.watch(path, listener),
    settled: async () => {
      await ringing;
    },
  };
}
