import { HostError } from '../host/files.ts';
import { append } from './append.ts';
import type { FactLog, LoggedFact } from './fact-log.ts';
import { type Formats, requireFormat } from './formats.ts';
import { dropLease, readLeases, renewLease, renewLeases } from './leases.ts';
import { advanceLogTime } from './log-time.ts';
import { randomId } from './random-id.ts';
import { readAfter } from './read.ts';
import { type LogHost, type LogSession, writeTo } from './session.ts';
import { loadSnapshots, saveSnapshot, trim } from './snapshots.ts';
import type { LogStore, Outcome } from './store.ts';
import type { LogTables, Writer } from './tables.ts';
import { forgetDeadWriters, unregister } from './writers.ts';

export interface OpenLogOptions<Fact extends LoggedFact> {
  readonly host: LogHost;
  readonly formats: Formats<Fact>;
  /** This process. Without it the registration stays until the log is closed, whatever becomes of the process. */
  readonly pid?: number;
}

/**
 * A FactLog on any store. Registers this process with the formats it can use, so that nobody raises the log's format over
 * its head, and refuses with UNREADABLE_FORMAT a log that has moved on already.
 */
export async function openLog<Fact extends LoggedFact>(
  store: LogStore,
  { host, formats, pid }: OpenLogOptions<Fact>,
): Promise<FactLog<Fact>> {
  await forgetDeadWriters(store, host);
  const identity = pid === undefined ? null : await host.processes.identify(pid);
  const self: Writer = { id: randomId(host.chance), identity, supports: formats.current };
  const head = await store.write(
    (tables) => {
      const found = tables.head();
      requireFormat(formats, found.format);
      tables.putWriter(self);
      return { result: found, changed: true };
    },
    { durable: false },
  );
  return createFactLog({
    ...{ store, host, formats, self },
    incarnation: head.incarnation,
    anchor: head.anchor,
    format: head.format,
    unknownFact: null,
    writersCheckedMs: -Infinity,
  });
}

function createFactLog<Fact extends LoggedFact>(session: LogSession<Fact>): FactLog<Fact> {
  const { store, host } = session;
  let closing: Promise<void> | null = null;
  const look = <T>(work: (tables: LogTables) => T): Promise<T> => store.read(work);
  const change = <T>(work: (tables: LogTables) => Outcome<T>): Promise<T> => writeTo(session, work);
  return {
    incarnation: session.incarnation,
    readAfter: (afterSeq, limitBatches) => readAfter(session, afterSeq, limitBatches),
    append: (request, decide) => append(session, request, decide),
    watch: (listener) => store.watch(listener),
    saveSnapshot: (snapshot) => saveSnapshot(session, snapshot),
    loadSnapshots: () => loadSnapshots(session),
    trim: (options) => trim(session, options),
    archived: (id) => look((tables) => tables.archived(id)),
    listArchive: (filter) => look((tables) => tables.listArchive(filter)),
    pruneArchive: (endedBeforeMs) => change((tables) => counted(tables.deleteArchived(endedBeforeMs))),
    pinnedBlobs: async () => new Set(await look((tables) => tables.pinnedBlobs())),
    recordBlobs: (hashes) => change((tables) => recordBlobs(tables, hashes)),
    forgetBlobs: (hashes) => change((tables) => listed(tables.deleteUnpinnedBlobs(hashes))),
    renewLease: (lease) => renewLease(session, lease),
    renewLeases: (grants) => renewLeases(session, grants),
    readLeases: () => readLeases(session),
    dropLease: (name, holder) => dropLease(session, name, holder),
    nowMs: () => advanceLogTime(session.anchor, host.clock).nowMs,
    close: () => {
      closing ??= closeLog(session);
      return closing;
    },
  };
}

async function closeLog<Fact extends LoggedFact>(session: LogSession<Fact>): Promise<void> {
  try {
    await unregister(session);
  } catch (error) {
    // On a full disk the registration outlives this process: whoever opens the log next sees it dead and removes it.
    if (session.self.identity === null || !(error instanceof HostError) || error.code !== 'ENOSPC') throw error;
  } finally {
    await session.store.close();
  }
}

function recordBlobs(tables: LogTables, hashes: readonly string[]): Outcome<undefined> {
  const known = new Set(tables.storedBlobs(hashes));
  const added = hashes.filter((hash) => !known.has(hash));
  tables.addBlobs(added);
  return { result: undefined, changed: added.length > 0 };
}

function counted(count: number): Outcome<number> {
  return { result: count, changed: count > 0 };
}

function listed(items: readonly string[]): Outcome<readonly string[]> {
  return { result: items, changed: items.length > 0 };
}
