import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../host/clock.ts';
import { genesisHash } from './batch.ts';
import type { ArchivedRecord, Batch, Draft, FactLog, Snapshot } from './fact-log.ts';
import type { Formats } from './formats.ts';
import { type Noted, noted } from './noted.testsuite.ts';

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

export const testClock = (clock: StoreUnderTest['clock']): Clock => ({
  wallMs: () => clock.wallMs,
  bootMs: () => clock.bootMs,
  bootId: () => clock.bootId,
});

/** What every FactLog does, whatever is beneath it. */
export function describeFactLog(name: string, setUp: () => Promise<StoreUnderTest>): void {
  describe(`the log in ${name}`, () => {
    let store: StoreUnderTest;
    beforeEach(async () => {
      store = await setUp();
    });
    afterEach(() => store.dispose());
    const given: Given = { store: () => store };
    describe('appends', () => testAppends(given));
    describe('answers and blobs', () => testLookUps(given));
    describe('archive', () => testArchive(given));
    describe('leases and time', () => testLeasesAndTime(given));
    describe('snapshots', () => testSnapshots(given));
  });
}

interface Given {
  readonly store: () => StoreUnderTest;
}

function testAppends({ store }: Given): void {
  it('numbers facts without gaps and chains each batch to the one before [I1]', async () => {
    const log = await store().open();
    const first = await add(log, [noted('a', 1), noted('a', 2)]);
    const second = await add(log, [noted('a', 3)]);
    expect([first.seq, second.seq]).toEqual([1, 3]);
    expect(first.previousHash).toBe(genesisHash);
    expect(second.previousHash).toBe(first.hash);
    expect(await log.readAfter(0)).toEqual([first, second]);
    expect(await log.readAfter(2)).toEqual([second]);
    expect(await log.readAfter(0, 1)).toEqual([first]);
  });

  it('shows a second log what the first appended before it decides', async () => {
    const [one, two] = [await store().open(), await store().open()];
    await add(one, [noted('one', 1)]);
    const seen: (readonly Batch<Noted>[])[] = [];
    const { tail, appended } = await two.append({ afterSeq: 0 }, (view) => {
      seen.push(view.tail);
      return { facts: [noted('two', 2)] };
    });
    expect(seen).toEqual([tail]);
    expect(tail.flatMap((batch) => batch.facts)).toEqual([noted('one', 1)]);
    expect(appended?.seq).toBe(2);
    expect(one.incarnation).toBe(two.incarnation);
  });

  it('writes nothing when there is nothing to decide', async () => {
    const log = await store().open();
    const answers = await log.append({ afterSeq: 0 }, () => null);
    const empty = await log.append({ afterSeq: 0 }, () => ({ facts: [] }));
    expect([answers.appended, empty.appended]).toEqual([null, null]);
    expect(await log.readAfter(0)).toEqual([]);
  });

  it('commits all of a draft or, when it cannot be written, none of it [I26]', async () => {
    const log = await store().open();
    const draft: Draft<Noted> = {
      facts: [noted('a', 1), noted('a', Number.NaN)],
      answers: [{ key: 'k', bodyHash: 'h', answer: 1 }],
      archive: [archivedRecord('j1', 1)],
      pins: [{ holder: 'j1', blobs: ['b1'] }],
    };
    await expect(log.append({ afterSeq: 0 }, () => draft)).rejects.toThrow('fact 1 (Noted).count: found NaN');
    const refusal = log.append({ afterSeq: 0 }, () => {
      throw new Error('a bug');
    });
    await expect(refusal).rejects.toThrow('a bug');
    const { tail } = await log.append({ afterSeq: 0, keys: ['k'], ids: ['j1'] }, (view) => {
      expect([view.answers.size, view.archivedIds.size]).toEqual([0, 0]);
      return null;
    });
    expect(tail).toEqual([]);
    expect(await log.pinnedBlobs()).toEqual(new Set());
  });

  it('loses nothing when two writers append at once', async () => {
    const logs = [await store().open(), await store().open()];
    await Promise.all(
      logs.flatMap((log, who) => Array.from({ length: 20 }, (_, count) => addNext(log, `w${who}`, count))),
    );
    const [log] = logs;
    const batches = (await log?.readAfter(0)) ?? [];
    expect(batches.map((batch) => batch.seq)).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
    for (const who of ['w0', 'w1']) {
      const counts = batches.flatMap((batch) => batch.facts).filter((fact) => fact.by === who);
      expect(counts.map((fact) => fact.count)).toEqual(Array.from({ length: 20 }, (_, count) => count));
    }
  });

  it('wakes another log after a commit', async () => {
    const [one, two] = [await store().open(), await store().open()];
    let end = (): void => {};
    const woken = new Promise<void>((resolve) => {
      end = two.watch(resolve);
    });
    await add(one, [noted('one', 1)]);
    await woken;
    end();
    expect(await two.readAfter(0)).toHaveLength(1);
  });

  it('says so when facts were read that the log does not have', async () => {
    const log = await store().open();
    await add(log, [noted('a', 1)]);
    await expect(log.readAfter(5)).rejects.toThrow('the log ends at fact 1, but fact 5 was read before');
    await expect(log.append({ afterSeq: 5 }, () => null)).rejects.toMatchObject({ code: 'REWOUND_LOG' });
  });
}

function testLookUps({ store }: Given): void {
  it('finds the answer stored under an idempotency key, in the same transaction [I3]', async () => {
    const [one, two] = [await store().open(), await store().open()];
    const answer = { key: 'k', bodyHash: 'h', answer: { id: 'train', list: [1, null] } };
    await one.append({ afterSeq: 0, keys: ['k'] }, (view) => {
      expect(view.answers.size).toBe(0);
      return { facts: [noted('one', 1)], answers: [answer] };
    });
    await two.append({ afterSeq: 1, keys: ['k', 'other'] }, (view) => {
      expect([...view.answers.values()]).toEqual([answer]);
      return null;
    });
  });

  it('keeps an answer even when its command led to no fact', async () => {
    const log = await store().open();
    const { appended } = await log.append({ afterSeq: 0 }, () => ({
      facts: [],
      answers: [{ key: 'k', bodyHash: 'h', answer: null }],
    }));
    expect(appended).toBeNull();
    await log.append({ afterSeq: 0, keys: ['k'] }, (view) => {
      expect(view.answers.get('k')?.answer).toBeNull();
      return null;
    });
  });

  it('forgets answers older than asked, by log time', async () => {
    const log = await store().open();
    const keep = (key: string): Promise<unknown> =>
      log.append({ afterSeq: 0 }, () => ({ facts: [], answers: [{ key, bodyHash: '', answer: 0 }] }));
    await keep('old');
    store().clock.bootMs += 1000;
    const betweenMs = log.nowMs();
    await keep('young');
    await log.trim({ beforeSeq: 0, answersBeforeMs: betweenMs });
    await log.append({ afterSeq: 0, keys: ['old', 'young'] }, (view) => {
      expect([...view.answers.keys()]).toEqual(['young']);
      return null;
    });
  });

  it('tells which blobs are missing, and never forgets one that a holder has pinned', async () => {
    const log = await store().open();
    await log.recordBlobs(['b1', 'b2', 'b3']);
    await log.append({ afterSeq: 0, blobs: ['b1', 'b4'] }, (view) => {
      expect([...view.missingBlobs]).toEqual(['b4']);
      return {
        facts: [],
        pins: [
          { holder: 'j1', blobs: ['b1', 'b2'] },
          { holder: 'j2', blobs: ['b2'] },
        ],
      };
    });
    expect(await log.pinnedBlobs()).toEqual(new Set(['b1', 'b2']));
    expect(await log.forgetBlobs(['b1', 'b2', 'b3'])).toEqual(['b3']);
    await log.append({ afterSeq: 0 }, () => ({ facts: [], unpins: ['j1'] }));
    expect(await log.pinnedBlobs()).toEqual(new Set(['b2']));
    expect(await log.forgetBlobs(['b1', 'b2'])).toEqual(['b1']);
    await log.append({ afterSeq: 0, blobs: ['b1', 'b2', 'b3'] }, (view) => {
      expect([...view.missingBlobs]).toEqual(['b1', 'b3']);
      return null;
    });
  });
}

function testArchive({ store }: Given): void {
  it('finds archived records by id and by every filter, newest first', async () => {
    const log = await store().open();
    const archive = [
      archivedRecord('train-1', 10),
      { ...archivedRecord('train-2', 20), name: 'other', project: 'p2' },
      { ...archivedRecord('eval-1', 20), owner: 'ada', state: 'FAILED' },
      archivedRecord('eval-2', 5),
    ];
    await log.append({ afterSeq: 0 }, () => ({ facts: [noted('a', 1)], archive }));
    const ids = async (filter: object): Promise<string[]> =>
      (await log.listArchive({ limit: 10, ...filter })).map((record) => record.id);
    expect(await log.archived('train-1')).toEqual(archive[0]);
    expect(await log.archived('train-9')).toBeNull();
    expect(await ids({})).toEqual(['train-2', 'eval-1', 'train-1', 'eval-2']);
    expect(await ids({ idPrefix: 'train' })).toEqual(['train-2', 'train-1']);
    expect(await ids({ name: 'other' })).toEqual(['train-2']);
    expect(await ids({ project: 'p2', name: 'job' })).toEqual([]);
    expect(await ids({ owner: 'ada', state: 'FAILED' })).toEqual(['eval-1']);
    await log.append({ afterSeq: 1, ids: ['eval-1', 'new'] }, (view) => {
      expect([...view.archivedIds]).toEqual(['eval-1']);
      return null;
    });
  });

  it('pages through the archive and prunes what ended before a time', async () => {
    const log = await store().open();
    const archive = Array.from({ length: 7 }, (_, index) => archivedRecord(`j${index}`, Math.floor(index / 2)));
    await log.append({ afterSeq: 0 }, () => ({ facts: [], archive }));
    const paged: string[] = [];
    for (let page = await log.listArchive({ limit: 3 }); page.length > 0; ) {
      paged.push(...page.map((record) => record.id));
      page = await log.listArchive({ limit: 3, beforeId: paged.at(-1) ?? '' });
    }
    expect(paged).toEqual(['j6', 'j5', 'j4', 'j3', 'j2', 'j1', 'j0']);
    expect(await log.listArchive({ limit: 3, beforeId: 'unknown' })).toEqual([]);
    expect(await log.pruneArchive(2)).toBe(4);
    expect((await log.listArchive({ limit: 9 })).map((record) => record.id)).toEqual(['j6', 'j5', 'j4']);
  });
}

function testLeasesAndTime({ store }: Given): void {
  it('gives a lease to one holder at a time, and to each new one a higher epoch [I14]', async () => {
    const [one, two] = [await store().open(), await store().open()];
    const first = await one.renewLease({ name: 'node', holder: 'a', forMs: 30_000 });
    expect(first).toMatchObject({ holder: 'a', epoch: 1, untilMs: one.nowMs() + 30_000 });
    expect(await two.renewLease({ name: 'node', holder: 'b', forMs: 30_000 })).toBeNull();
    store().clock.bootMs += 20_000;
    expect(await one.renewLease({ name: 'node', holder: 'a', forMs: 30_000 })).toMatchObject({ epoch: 1 });
    store().clock.bootMs += 30_000;
    expect(await two.readLeases()).toMatchObject([{ name: 'node', holder: 'a' }]);
    expect(await two.renewLease({ name: 'node', holder: 'b', forMs: 30_000 })).toMatchObject({ holder: 'b', epoch: 2 });
    await one.dropLease('node', 'a');
    expect(await one.readLeases()).toMatchObject([{ holder: 'b', epoch: 2 }]);
    await two.dropLease('node', 'b');
    expect(await one.readLeases()).toEqual([]);
    expect(await one.renewLease({ name: 'node', holder: 'b', forMs: 1 })).toMatchObject({ epoch: 3 });
    expect(await one.readAfter(0)).toEqual([]);
  });

  it('shows a decision the leases that it asks for', async () => {
    const log = await store().open();
    const lease = await log.renewLease({ name: 'node', holder: 'a', forMs: 30_000 });
    await log.append({ afterSeq: 0, leases: ['node', 'other'] }, (view) => {
      expect([...view.leases.values()]).toEqual([lease]);
      return null;
    });
  });

  it('lets log time advance by boot time alone when the wall clock jumps two years [C28] [I7]', async () => {
    const log = await store().open();
    const before = await add(log, [noted('a', 1)]);
    store().clock.wallMs += 2 * 365 * 86_400_000;
    store().clock.bootMs += 500;
    const ahead = await add(log, [noted('a', 2)]);
    store().clock.wallMs -= 4 * 365 * 86_400_000;
    store().clock.bootMs += 500;
    const back = await add(log, [noted('a', 3)]);
    expect([ahead.nowMs - before.nowMs, back.nowMs - ahead.nowMs]).toEqual([500, 500]);
    expect(log.nowMs()).toBe(back.nowMs);
    expect(back.atMs).toBe(store().clock.wallMs);
  });

  it('knows an outage until the next batch, also when a lease was renewed first', async () => {
    const log = await store().open();
    const isAfterOutage = async (facts: readonly Noted[]): Promise<boolean> => {
      let found = false;
      await log.append({ afterSeq: 0 }, (view) => {
        found = view.afterOutage;
        return { facts };
      });
      return found;
    };
    await add(log, [noted('a', 1)]);
    for (let beats = 0; beats < 20; beats += 1) {
      store().clock.bootMs += 5_000;
      await log.renewLease({ name: 'node', holder: 'a', forMs: 30_000 });
    }
    expect(await isAfterOutage([])).toBe(false);
    store().clock.bootMs += 61_000;
    await log.renewLease({ name: 'node', holder: 'a', forMs: 30_000 });
    expect(await isAfterOutage([])).toBe(true);
    expect(await isAfterOutage([noted('a', 2)])).toBe(true);
    expect(await isAfterOutage([])).toBe(false);
    Object.assign(store().clock, { bootId: 'boot-2', bootMs: 10, wallMs: store().clock.wallMs + 3_600_000 });
    expect(await isAfterOutage([noted('a', 3)])).toBe(true);
  });
}

function testSnapshots({ store }: Given): void {
  it('keeps the two newest snapshots, newest first [I5]', async () => {
    const log = await store().open();
    const snapshots: Snapshot[] = [];
    for (let count = 1; count <= 3; count += 1) snapshots.push(await snapshotNow(log, count));
    const other = await store().open();
    expect(await other.loadSnapshots()).toEqual([snapshots[2], snapshots[1]]);
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
    expect(await add(log, [noted('a', 3)])).toMatchObject({ seq: 4, previousHash: newer.hash });
  });
}

/** Appends at the end, whatever is there. */
export async function add(log: FactLog<Noted>, facts: readonly Noted[]): Promise<Batch<Noted>> {
  const { appended } = await log.append({ afterSeq: await lastSeq(log) }, () => ({ facts }));
  if (appended === null) throw new Error('expected a batch');
  return appended;
}

function addNext(log: FactLog<Noted>, by: string, count: number): Promise<unknown> {
  return log.append({ afterSeq: 0 }, () => ({ facts: [noted(by, count)] }));
}

const lastKnown = new WeakMap<FactLog<Noted>, number>();

async function lastSeq(log: FactLog<Noted>): Promise<number> {
  const from = lastKnown.get(log) ?? 0;
  const last = (await log.readAfter(from)).at(-1);
  const seq = last === undefined ? from : last.seq + last.facts.length - 1;
  lastKnown.set(log, seq);
  return seq;
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

function archivedRecord(id: string, endedAtMs: number): ArchivedRecord {
  return {
    ...{ id, name: 'job', project: 'p', owner: 'me', state: 'COMPLETED' },
    ...{ submittedAtMs: 1, endedAtMs, record: { id, steps: ['run'] } },
  };
}
