import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Runyard } from '../src/client/runyard.ts';
import { ControlPlane } from '../src/control/control-plane.ts';
import { loadState, saveState, stateHash } from '../src/control/snapshots.ts';
import { evolve } from '../src/core/evolve.ts';
import type { Fact } from '../src/core/fact.ts';
import { emptyState } from '../src/core/state.ts';
import { createNodeHost } from '../src/host/node/node-host.ts';
import { createNodeProcesses } from '../src/host/node/processes.ts';
import { openSqliteLog } from '../src/log/sqlite.ts';
import { isFull } from './lab.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'runyard-truth-'));
});
afterEach(() => {
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
});

function openHost(): { host: ReturnType<typeof createNodeHost>; end: () => void } {
  const processes = createNodeProcesses({ directory: `${home}/shim` });
  return { host: createNodeHost(processes), end: () => processes.close() };
}

async function lastSeq(): Promise<number> {
  const { host, end } = openHost();
  const log = await openSqliteLog<Fact>({ path: `${home}/log.db`, host, pid: process.pid });
  const { seq } = await loadState(log, host);
  await log.close();
  end();
  return seq;
}

async function runSomeJobs(yard: Runyard): Promise<void> {
  const documents = [
    { job: { name: 'ok', run: 'true' } },
    { job: { name: 'bad', run: 'exit 3', outputs: ['x'] } },
    { job: { name: 'many', run: 'test "$RUNYARD_INDEX" != 2' }, profile: { array: { size: 4, maxRunning: 2 } } },
    { job: { name: 'again', run: 'exit 75' }, profile: { retry: { maxAttempts: 2, onExit: [75] } } },
  ];
  const jobs = await Promise.all(documents.map((document) => yard.jobs.submit(document)));
  for (const job of jobs) await job.wait();
  await yard.jobs.submit({ job: { name: 'waits', run: 'true' }, profile: { resources: { gpus: 99 } } });
}

describe('what is true is the log', () => {
  it('facts alone give the state hash that the snapshot and its tail give [I4] [I5] [X28]', async () => {
    const yard = await Runyard.open({ home });
    const node = await yard.nodes.start({ cpus: 4 });
    await runSomeJobs(yard);
    const { host, end } = openHost();
    const log = await openSqliteLog<Fact>({ path: `${home}/log.db`, host, pid: process.pid });
    const first = await loadState(log, host);
    await saveState(log, host, first);
    await (await yard.jobs.submit({ job: { name: 'later', run: 'true' } })).wait();
    const fromSnapshot = await loadState(log, host);
    expect(fromSnapshot.snapshotSeq).toBe(first.seq);
    const folded = emptyState();
    for (const batch of await log.readAfter(0)) for (const fact of batch.facts) evolve(folded, fact, batch);
    expect(stateHash(host, fromSnapshot.state)).toBe(stateHash(host, folded));
    expect(folded.jobs.size).toBe(1);
    await log.close();
    end();
    await node?.close();
    await yard.close();
  });

  it(`an idle node appends nothing for ${isFull ? 'a minute' : 'three seconds'} [I28]`, async () => {
    const yard = await Runyard.open({ home });
    const node = await yard.nodes.start({ cpus: 4 });
    await runSomeJobs(yard);
    const seqBefore = await lastSeq();
    await new Promise((done) => setTimeout(done, isFull ? 60_000 : 3000));
    expect(await lastSeq()).toBe(seqBefore);
    await node?.close();
    await yard.close();
  });

  it('a submission with the same key has one effect and one answer; with another body it is refused [I3] [R4.12]', async () => {
    const yard = await Runyard.open({ home });
    const document = { job: { name: 'once', run: 'true' } };
    const first = await yard.jobs.submit(document, { idempotencyKey: 'k1' });
    const second = await yard.jobs.submit(document, { idempotencyKey: 'k1' });
    expect(second.id).toBe(first.id);
    const [third, fourth] = await Promise.all(
      ['k2', 'k2'].map((key) => yard.jobs.submit(document, { idempotencyKey: key })),
    );
    expect(third?.id).toBe(fourth?.id);
    await expect(
      yard.jobs.submit({ job: { name: 'once', run: 'false' } }, { idempotencyKey: 'k1' }),
    ).rejects.toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
    expect((await yard.jobs.list()).length).toBe(2);
    await yard.close();
  });

  it('a full disk refuses the command, retryable, and changes nothing [R4.44] [I26]', async () => {
    const { host, end } = openHost();
    const log = await openSqliteLog<Fact>({ path: `${home}/log.db`, host, pid: process.pid, maxSizeBytes: 400_000 });
    const plane = await ControlPlane.open(log, host, () => {});
    const big = { kind: 'ApplyProfile', name: 'p', values: {}, by: 'test' } as const;
    let refused = 0;
    for (let round = 0; round < 40 && refused === 0; round += 1) {
      const before = stateHash(host, plane.state);
      const answer = await plane.execute({ ...big, values: { priority: round }, source: 'x'.repeat(30_000) });
      if ('refused' in answer) {
        refused += 1;
        expect(answer).toMatchObject({ code: 'STORE_FULL' });
        expect(stateHash(host, plane.state)).toBe(before);
      }
    }
    expect(refused).toBe(1);
    await plane.close();
    end();
  });
});
