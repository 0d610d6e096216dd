import { afterAll, describe, expect, it } from 'vitest';
import { describeFactLog } from './contract.testsuite.ts';
import { add, testClock } from './contract-store.testsuite.ts';
import type { FactLog } from './fact-log.ts';
import { createMemoryStore, openMemoryLog } from './memory.ts';
import { createTemporaryHost } from './node-host.testsuite.ts';
import { type Noted, noted } from './noted.testsuite.ts';

const real = createTemporaryHost();
afterAll(real.remove);

describeFactLog('memory', async () => {
  const clock = { wallMs: 1_700_000_000_000, bootMs: 1_000, bootId: 'boot-1' };
  const host = { ...real.host, clock: testClock(clock) };
  const store = createMemoryStore();
  const logs: FactLog<Noted>[] = [];
  return {
    clock,
    open: async (formats) => {
      const log = await openMemoryLog<Noted>(store, host, formats === undefined ? {} : { formats });
      logs.push(log);
      return log;
    },
    damageSnapshot: (seq) => {
      const part = store.tables?.snapshot(seq)?.parts[0];
      if (part === undefined) throw new Error(`no snapshot ${seq}`);
      part.bytes.set([(part.bytes[20] ?? 0) ^ 1], 20);
    },
    dispose: async () => {
      for (const log of logs) await log.close();
    },
  };
});

describe('a log in memory whose host fails', () => {
  it('writes nothing when it fails before the lock, and everything when only the answer is lost', async () => {
    const store = createMemoryStore();
    const good = await openMemoryLog<Noted>(store, real.host);
    let failing = false;
    const fail = async (): Promise<void> => {
      if (failing) throw new Error('lost');
    };
    const before = await openMemoryLog<Noted>(store, real.host, { pauses: { beforeLock: fail } });
    const after = await openMemoryLog<Noted>(store, real.host, { pauses: { afterCommit: fail } });
    failing = true;
    await expect(before.append({ afterSeq: 0 }, () => ({ facts: [noted('before', 1)] }))).rejects.toThrow('lost');
    await expect(after.append({ afterSeq: 0 }, () => ({ facts: [noted('after', 1)] }))).rejects.toThrow('lost');
    expect((await good.readAfter(0)).flatMap((batch) => batch.facts)).toEqual([noted('after', 1)]);
    expect(await add(good, [noted('good', 2)])).toMatchObject({ seq: 2 });
  });
});
