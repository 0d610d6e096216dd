import { expect, it } from 'vitest';
import { archivedRecord, type Given } from './contract-store.testsuite.ts';
import { noted } from './noted.testsuite.ts';

export function testLookUps({ store }: Given): void {
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

export function testArchive({ store }: Given): void {
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

  it('lists the archive by when jobs were submitted, up to a moment, and those that ended since another', async () => {
    const log = await store().open();
    const archive = [
      { ...archivedRecord('long', 100), submittedAtMs: 1 },
      { ...archivedRecord('short', 50), submittedAtMs: 40 },
      { ...archivedRecord('last', 90), submittedAtMs: 40 },
    ];
    await log.append({ afterSeq: 0 }, () => ({ facts: [], archive }));
    const ids = async (filter: object): Promise<string[]> =>
      (await log.listArchive({ limit: 10, order: 'submission', ...filter })).map((record) => record.id);
    expect(await ids({})).toEqual(['short', 'last', 'long']);
    expect(await ids({ submittedUpToMs: 39 })).toEqual(['long']);
    expect(await ids({ endedSinceMs: 60 })).toEqual(['last', 'long']);
    expect(await ids({ limit: 1 })).toEqual(['short']);
  });
}
