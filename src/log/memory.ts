import type { FactLog, LoggedFact } from './fact-log.ts';
import { type Formats, plainFormats } from './formats.ts';
import { createMemoryTables, type MemoryTables } from './memory-tables.ts';
import { newHead } from './new-head.ts';
import { openLog } from './open-log.ts';
import { createQueue } from './queue.ts';
import type { LogHost } from './session.ts';
import type { LogStore, Outcome } from './store.ts';
import type { LogTables } from './tables.ts';

/** What several logs share, as processes share a file. It outlives every log on it. */
export interface MemoryStore {
  tables: MemoryTables | null;
  /** Wakes the logs that are watched. */
  readonly bells: Set<{ readonly owner: LogStore; ring(): void }>;
}

/**
 * Where a simulation steps in: it lets time pass there, throws what a store may throw, or never returns, as a crash does.
 * After `beforeLock` throws nothing is written; after `afterCommit` throws everything is.
 */
export interface MemoryPauses {
  beforeLock?(): Promise<void>;
  afterCommit?(): Promise<void>;
}

export interface MemoryLogOptions<Fact extends LoggedFact> {
  readonly formats?: Formats<Fact>;
  readonly pid?: number;
  readonly pauses?: MemoryPauses;
}

export function createMemoryStore(): MemoryStore {
  return { tables: null, bells: new Set() };
}

/** Opens a log on a store in memory; the order of commits follows from the order of calls alone. */
export async function openMemoryLog<Fact extends LoggedFact>(
  memory: MemoryStore,
  host: LogHost,
  { formats = plainFormats<Fact>(), pid, pauses = {} }: MemoryLogOptions<Fact> = {},
): Promise<FactLog<Fact>> {
  memory.tables ??= createMemoryTables(newHead(host, formats.current));
  const store = createStore(memory, memory.tables, { host, pauses });
  return openLog(store, { host, formats, ...(pid === undefined ? {} : { pid }) });
}

function createStore(
  memory: MemoryStore,
  tables: MemoryTables,
  { host, pauses }: { host: LogHost; pauses: MemoryPauses },
): LogStore {
  const enqueue = createQueue();
  const store: LogStore = {
    write: (work) =>
      enqueue(async () => {
        await pauses.beforeLock?.();
        const { result, changed } = lockAndWork(tables, work);
        if (changed) ringOthers(memory, store);
        await pauses.afterCommit?.();
        return result;
      }),
    read: async (work) => work(tables),
    watch: (listener) => watchBell(memory, store, { host, listener }),
    close: async () => {
      for (const bell of memory.bells) if (bell.owner === store) memory.bells.delete(bell);
    },
  };
  return store;
}

/**
 * The lock is the one thread itself: the work is synchronous, so a process that crashes while it waits holds nothing up.
 * What the work wrote is taken back when it throws or wants nothing written.
 */
function lockAndWork<T>(tables: MemoryTables, work: (tables: LogTables) => Outcome<T>): Outcome<T> {
  tables.begin();
  let outcome: Outcome<T> | null = null;
  try {
    outcome = work(tables);
    return outcome;
  } finally {
    tables.end(outcome?.changed === true);
  }
}

function ringOthers(memory: MemoryStore, self: LogStore): void {
  for (const bell of memory.bells) if (bell.owner !== self) bell.ring();
}

/** The listener runs on its own host's timer: a process that has crashed meanwhile hears nothing. */
function watchBell(
  memory: MemoryStore,
  owner: LogStore,
  { host, listener }: { host: LogHost; listener: () => void },
): () => void {
  let cancel: (() => void) | null = null;
  const bell = {
    owner,
    ring: (): void => {
      cancel ??= host.timers.after(0, () => {
        cancel = null;
        listener();
      });
    },
  };
  memory.bells.add(bell);
  return () => {
    memory.bells.delete(bell);
    cancel?.();
    cancel = null;
  };
}
