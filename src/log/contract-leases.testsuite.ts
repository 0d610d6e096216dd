import { expect, it } from 'vitest';
import { add, type Given } from './contract-store.testsuite.ts';
import { type Noted, noted } from './noted.testsuite.ts';

export function testLeasesAndTime({ store }: Given): void {
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

  it('puts many leases with one write, whoever held them, and says when their holders were heard [I14]', async () => {
    const log = await store().open();
    await log.renewLease({ name: 'b', holder: 'old', forMs: 30_000 });
    const startMs = log.nowMs();
    store().clock.bootMs += 1000;
    await log.renewLeases([
      { name: 'a', holder: 'x', forMs: 300_000, heard: false },
      { name: 'b', holder: 'new', forMs: 30_000, heard: true },
    ]);
    const nowMs = startMs + 1000;
    expect(await log.readLeases()).toEqual([
      { name: 'a', holder: 'x', epoch: 1, untilMs: nowMs + 300_000, heardAtMs: null },
      { name: 'b', holder: 'new', epoch: 2, untilMs: nowMs + 30_000, heardAtMs: nowMs },
    ]);
    await log.renewLeases([{ name: 'b', holder: 'new', forMs: 300_000, heard: false }]);
    expect((await log.readLeases())[1]).toMatchObject({ epoch: 2, untilMs: nowMs + 300_000, heardAtMs: nowMs });
    // What a holder did not ask for takes nothing away from it.
    await log.renewLeases([{ name: 'b', holder: 'new', forMs: 0, heard: false }]);
    expect((await log.readLeases())[1]).toMatchObject({ untilMs: nowMs + 300_000 });
    expect(await log.readAfter(0)).toEqual([]);
  });

  it('takes what is left of a lease by a clock that counts parts of milliseconds, and rounds it down', async () => {
    const log = await store().open();
    const lease = await log.renewLease({ name: 'a', holder: 'one', forMs: 29_999.75 });
    await log.renewLeases([{ name: 'b', holder: 'one', forMs: 29_999.75, heard: true }]);
    const ends = (await log.readLeases()).map(({ untilMs }) => untilMs);
    for (const untilMs of ends) expect(Number.isInteger(untilMs)).toBe(true);
    expect(ends[0]).toBe(lease?.untilMs);
  });

  it('puts leases with the facts of a decision, or with none, and an outage is over with that', async () => {
    const log = await store().open();
    await add(log, [noted('a', 1)]);
    const decide = async (facts: readonly Noted[], until: number | null, heard = false): Promise<boolean> => {
      let found = false;
      await log.append({ afterSeq: 0 }, (view) => {
        found = view.afterOutage;
        return { facts, leases: until === null ? [] : [{ name: 'n', holder: 'h', forMs: until, heard }] };
      });
      return found;
    };
    store().clock.bootMs += 61_000;
    expect(await decide([], null)).toBe(true);
    expect(await decide([], 300_000)).toBe(true);
    expect(await log.readLeases()).toMatchObject([{ name: 'n', untilMs: log.nowMs() + 300_000 }]);
    expect(await decide([], null)).toBe(false);
    expect(await decide([noted('a', 2)], 5, true)).toBe(false);
    expect(await log.readLeases()).toMatchObject([{ name: 'n', untilMs: log.nowMs() + 5 }]);
  });

  it('notices an outage when many leases are put, too, and keeps it for the next decision', async () => {
    const log = await store().open();
    await add(log, [noted('a', 1)]);
    store().clock.bootMs += 61_000;
    await log.renewLeases([{ name: 'n', holder: 'h', forMs: 30_000, heard: true }]);
    let found = false;
    await log.append({ afterSeq: 0 }, (view) => {
      found = view.afterOutage;
      return null;
    });
    expect(found).toBe(true);
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
