import type { Host } from '../host/host.ts';

/**
 * Which attempts this node has begun to run, on the disk before anything of them is started: an attempt starts at most
 * once, also across a power loss that takes its directory along. One flush serves all starts that wait for it.
 */
export interface StartJournal {
  /** Names found when it was opened. */
  readonly known: readonly string[];
  /** Resolves when the name is on the disk. Rejects with a HostError when it cannot be; nothing may be started then. */
  record(name: string): Promise<void>;
  /** Forgets all but these; at the start of an agent. */
  keepOnly(names: readonly string[]): Promise<void>;
}

export async function openStartJournal({ files }: Pick<Host, 'files'>, path: string): Promise<StartJournal> {
  const bytes = await files.read(path);
  // A last line without its end was never acknowledged.
  const known = bytes === null ? [] : new TextDecoder().decode(bytes).split('\n').slice(0, -1);
  const recorded = new Set(known);
  let waiting: string[] = [];
  let next: Promise<void> | null = null;
  let last: Promise<void> = Promise.resolve();

  const flush = async (): Promise<void> => {
    await last.catch(() => {});
    const names = waiting;
    waiting = [];
    next = null;
    await files.append(path, encode(names), { sync: true });
    for (const name of names) recorded.add(name);
  };
  return {
    known,
    record(name) {
      if (recorded.has(name)) return Promise.resolve();
      waiting.push(name);
      if (next === null) {
        next = flush();
        last = next;
      }
      return next;
    },
    async keepOnly(names) {
      await files.writeAtomic(path, encode(names), { mode: 0o600, sync: true });
      recorded.clear();
      for (const name of names) recorded.add(name);
    },
  };
}

function encode(names: readonly string[]): Uint8Array {
  return new TextEncoder().encode(names.map((name) => `${name}\n`).join(''));
}
