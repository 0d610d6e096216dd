import type { Clock } from '../host/clock.ts';
import type { ArchivedRecord, Batch, FactLog } from './fact-log.ts';
import type { Formats } from './formats.ts';
import type { Noted } from './noted.testsuite.ts';

/** One store, and any number of logs on it. */
export interface StoreUnderTest {
  /** Clocks that all its logs share, and that tests set. */
  readonly clock: { wallMs: number; bootMs: number; bootId: string };
  open(formats?: Formats<Noted>): Promise<FactLog<Noted>>;
  /** Changes a byte of that stored snapshot. */
  damageSnapshot(seq: number): void;
  /** Closes every log it opened and removes what it made. */
  dispose(): Promise<void>;
}

export interface Given {
  readonly store: () => StoreUnderTest;
}

export const testClock = (clock: StoreUnderTest['clock']): Clock => ({
  wallMs: () => clock.wallMs,
  bootMs: () => clock.bootMs,
  bootId: () => clock.bootId,
});

/** Appends at the end, whatever is there. */
export async function add(log: FactLog<Noted>, facts: readonly Noted[]): Promise<Batch<Noted>> {
  const { appended } = await log.append({ afterSeq: await lastSeq(log) }, () => ({ facts }));
  if (appended === null) throw new Error('expected a batch');
  return appended;
}

const lastKnown = new WeakMap<FactLog<Noted>, number>();

async function lastSeq(log: FactLog<Noted>): Promise<number> {
  const from = lastKnown.get(log) ?? 0;
  const last = (await log.readAfter(from)).at(-1);
  const seq = last === undefined ? from : last.seq + last.facts.length - 1;
  lastKnown.set(log, seq);
  return seq;
}

export function archivedRecord(id: string, endedAtMs: number): ArchivedRecord {
  return {
    ...{ id, name: 'job', project: 'p', owner: 'me', state: 'COMPLETED' },
    ...{ submittedAtMs: 1, endedAtMs, record: { id, steps: ['run'] } },
  };
}
