import { expect, it } from 'vitest';
import { add, type Given } from './contract-store.testsuite.ts';
import type { FactLog, Snapshot } from './fact-log.ts';
import { type Noted, noted } from './noted.testsuite.ts';
import { readKept } from './read-kept.ts';

export function testSnapshots({ store }: Given): void {
  it('keeps the two newest snapshots, newest first [I5]', async () => {
    const log = await store().open();
    const snapshots: Snapshot[] = [];
    for (let count = 1; count <= 3; count += 1) snapshots.push(await snapshotNow(log, count));
    const other = await store().open();
    expect(await other.loadSnapshots()).toEqual([snapshots[2], snapshots[1]]);
  });

  it('keeps a snapshot of many megabytes whole, and one without records', async () => {
    const log = await store().open();
    const records = Array.from({ length: 10 }, (_, index) => String(index).repeat(1_000_000));
    const { seq, hash } = await add(log, [noted('a', 1)]);
    const large: Snapshot = { incarnation: log.incarnation, seq, hash, version: 2, stateHash: 's', records };
    await log.saveSnapshot(large);
    expect(await log.loadSnapshots()).toEqual([large]);
    await log.saveSnapshot({ ...large, records: [] });
    expect(await log.loadSnapshots()).toEqual([{ ...large, records: [] }]);
  });

  it('leaves out a damaged snapshot', async () => {
    const log = await store().open();
    const older = await snapshotNow(log, 1);
    const newer = await snapshotNow(log, 2);
    store().damageSnapshot(newer.seq);
    expect(await log.loadSnapshots()).toEqual([older]);
  });

  it('leaves out a snapshot of another history', async () => {
    const log = await store().open();
    const good = await snapshotNow(log, 1);
    await log.saveSnapshot({ ...good, seq: 7 });
    await log.saveSnapshot({ ...good, incarnation: 'other' });
    expect(await log.loadSnapshots()).toEqual([]);
  });

  it('trims no batch that the older snapshot does not contain, and says what is gone', async () => {
    const log = await store().open();
    await add(log, [noted('a', 0)]);
    await log.trim({ beforeSeq: 100, answersBeforeMs: 0 });
    expect(await log.readAfter(0)).toHaveLength(1);
    const older = await snapshotNow(log, 1);
    const newer = await snapshotNow(log, 2);
    await log.trim({ beforeSeq: 100, answersBeforeMs: 0 });
    expect((await log.readAfter(older.seq)).map((batch) => batch.seq)).toEqual([newer.seq]);
    await expect(log.readAfter(0)).rejects.toThrow('the log keeps no fact 1 any more (its oldest is 3)');
    expect((await readKept(log, 0, 10)).map((batch) => batch.seq)).toEqual([newer.seq]);
    expect(await readKept(log, newer.seq, 10)).toEqual([]);
    expect(await add(log, [noted('a', 3)])).toMatchObject({ seq: 4, previousHash: newer.hash });
  });
}

async function snapshotNow(log: FactLog<Noted>, count: number): Promise<Snapshot> {
  const { seq, hash } = await add(log, [noted('a', count)]);
  const records = Array.from({ length: 5 }, (_, index) => `record ${index} of ${count} ☃`);
  const snapshot: Snapshot = {
    incarnation: log.incarnation,
    seq,
    hash,
    version: 1,
    stateHash: `state ${count}`,
    records,
  };
  await log.saveSnapshot(snapshot);
  return snapshot;
}
