import { expect, it } from 'vitest';
import { genesisHash } from './batch.ts';
import { add, archivedRecord, type Given } from './contract-store.testsuite.ts';
import type { Batch, Draft, FactLog } from './fact-log.ts';
import { type Noted, noted } from './noted.testsuite.ts';

export function testAppends({ store }: Given): void {
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
}

export function testSharing({ store }: Given): void {
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

function addNext(log: FactLog<Noted>, by: string, count: number): Promise<unknown> {
  return log.append({ afterSeq: 0 }, () => ({ facts: [noted(by, count)] }));
}
