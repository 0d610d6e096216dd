import type { LoggedFact } from './fact-log.ts';
import type { LogHost, LogSession } from './session.ts';
import type { LogStore } from './store.ts';
import type { Writer } from './tables.ts';

/** How often, in boot time, a process looks whether those that hold back the format are still alive. */
const recheckMs = 1_000;
const nobody: ReadonlySet<string> = new Set();

/**
 * The ids of registered writers that are certainly dead. Asked before the lock is taken, since the answer needs awaits.
 * A log whose format this process could not raise anyway has no need to know, and gets none.
 */
export async function findDeadWriters<Fact extends LoggedFact>(
  session: LogSession<Fact>,
): Promise<ReadonlySet<string>> {
  const { store, host, formats } = session;
  const next = session.format + 1;
  if (!formats.current.includes(next)) return nobody;
  const bootMs = host.clock.bootMs();
  if (bootMs - session.writersCheckedMs < recheckMs) return nobody;
  const writers = await store.read((tables) => tables.writers());
  const blocking = writers.filter((writer) => !writer.supports.includes(next));
  session.writersCheckedMs = bootMs;
  return deadAmong(host, blocking);
}

/** Removes the rows of dead processes; called when a log is opened, so that rows never pile up. */
export async function forgetDeadWriters(store: LogStore, host: LogHost): Promise<void> {
  const dead = await deadAmong(host, await store.read((tables) => tables.writers()));
  if (dead.size === 0) return;
  await store.write(
    (tables) => {
      for (const id of dead) tables.deleteWriter(id);
      return { result: undefined, changed: true };
    },
    { durable: false },
  );
}

/** Ends this process's registration. */
export async function unregister<Fact extends LoggedFact>(session: LogSession<Fact>): Promise<void> {
  await session.store.write(
    (tables) => {
      tables.deleteWriter(session.self.id);
      return { result: undefined, changed: true };
    },
    { durable: false },
  );
}

async function deadAmong(host: LogHost, writers: readonly Writer[]): Promise<ReadonlySet<string>> {
  const dead = new Set<string>();
  for (const { id, identity } of writers) {
    if (identity === null) continue;
    if (identity.bootId !== host.clock.bootId() || !(await host.processes.isAlive(identity))) dead.add(id);
  }
  return dead;
}
