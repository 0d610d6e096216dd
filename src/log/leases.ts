import type { Lease, LeaseGrant, LoggedFact } from './fact-log.ts';
import { advanceLogTime, isOutage } from './log-time.ts';
import { type LogSession, writeTo } from './session.ts';
import type { LogTables } from './tables.ts';

/**
 * Takes or renews a lease; null when another holder has it and its time is not over. A renewal also writes down log time,
 * which is what tells a steady log from an unattended one, and keeps an outage that it notices for the next batch to see.
 */
export async function renewLease<Fact extends LoggedFact>(
  session: LogSession<Fact>,
  { name, holder, forMs }: { name: string; holder: string; forMs: number },
): Promise<Lease | null> {
  // A renewal costs no flush: power loss ends its holder too. A new epoch must outlast it.
  const durable = (await session.store.read((tables) => tables.lease(name)))?.holder !== holder;
  return writeTo(
    session,
    (tables, head) => {
      const now = advanceLogTime(head.anchor, session.host.clock);
      const before = tables.lease(name);
      const isOthers = before !== null && before.holder !== null && before.holder !== holder;
      if (isOthers && before.untilMs > now.nowMs) return { result: null, changed: false };
      const epoch = before === null ? 1 : before.epoch + (before.holder === holder ? 0 : 1);
      const lease: Lease = { name, holder, epoch, untilMs: endOf(forMs, now.nowMs), heardAtMs: now.nowMs };
      tables.putLease(lease);
      tables.setHead({ ...head, anchor: now, outage: head.outage || isOutage(head.anchor, now) });
      session.anchor = now;
      return { result: lease, changed: true };
    },
    { durable },
  );
}

/** The same for many at once, each taken from whoever held it. */
export async function renewLeases<Fact extends LoggedFact>(
  session: LogSession<Fact>,
  grants: readonly LeaseGrant[],
): Promise<void> {
  await writeTo(
    session,
    (tables, head) => {
      const now = advanceLogTime(head.anchor, session.host.clock);
      grantLeases(tables, grants, now.nowMs);
      tables.setHead({ ...head, anchor: now, outage: head.outage || isOutage(head.anchor, now) });
      session.anchor = now;
      return { result: undefined, changed: true };
    },
    { durable: false },
  );
}

/**
 * Puts leases, inside a transaction. The epoch rises with each new holder. Time that a holder is given though it did not
 * ask for it takes nothing away from what it has.
 */
export function grantLeases(tables: LogTables, grants: readonly LeaseGrant[], nowMs: number): void {
  for (const { name, holder, forMs, heard } of grants) {
    const before = tables.lease(name);
    const epoch = before === null ? 1 : before.epoch + (before.holder === holder ? 0 : 1);
    const untilMs = endOf(forMs, nowMs);
    tables.putLease({
      name,
      holder,
      epoch,
      untilMs: heard ? untilMs : Math.max(untilMs, before?.untilMs ?? untilMs),
      heardAtMs: heard ? nowMs : (before?.heardAtMs ?? null),
    });
  }
}

/** Log time is whole milliseconds, and what is left of a lease by a clock of a finer kind is not. */
function endOf(forMs: number, nowMs: number): number {
  return nowMs + Math.floor(forMs);
}

/** Every lease that somebody holds, also those whose time is over: that is how a lost holder is noticed. */
export async function readLeases<Fact extends LoggedFact>(session: LogSession<Fact>): Promise<readonly Lease[]> {
  const leases = await session.store.read((tables) => tables.leases());
  return leases.flatMap((lease) => {
    const { holder } = lease;
    return holder === null ? [] : [{ ...lease, holder }];
  });
}

/** Ends a lease early; nothing happens unless `holder` has it. Its epoch is kept, so that the next holder's is higher. */
export async function dropLease<Fact extends LoggedFact>(
  session: LogSession<Fact>,
  name: string,
  holder: string,
): Promise<void> {
  await writeTo(session, (tables) => {
    const lease = tables.lease(name);
    if (lease === null || lease.holder !== holder) return { result: undefined, changed: false };
    tables.putLease({ ...lease, holder: null });
    return { result: undefined, changed: true };
  });
}
