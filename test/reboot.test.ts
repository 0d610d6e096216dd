import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobHandle } from '../src/client/api.ts';
import { type EmbeddedClient, type EmbeddedLab, openEmbeddedLab } from './embedded-lab.ts';
import { markedPids, startTicksOf, until } from './lab.ts';

let lab: EmbeddedLab;
let home: string;
beforeEach(() => {
  lab = openEmbeddedLab();
  home = lab.home;
});
afterEach(() => lab.close());

/** A client whose machine says that it was booted with this id. */
function openAtBoot(bootId: string): Promise<EmbeddedClient> {
  return lab.open((host) => {
    const { clock } = host;
    return { ...host, clock: { wallMs: () => clock.wallMs(), bootMs: () => clock.bootMs(), bootId: () => bootId } };
  });
}

async function runs(job: JobHandle): Promise<void> {
  await until(
    async () => (await job.view()).tasks[0]?.step === 'run' && markedPids(home).length > 0,
    'the run of the job',
  );
}

describe('after a reboot', () => {
  it('what ran is lost with its node, and nothing that now has its pid is signalled [S11] [I17]', async () => {
    const before = await openAtBoot('boot-one');
    const node = await before.nodes.start({ name: 'n' });
    const job = await before.jobs.submit({ job: { name: 'lost', run: ['sleep', '300'] } });
    await runs(job);
    const pids = markedPids(home);
    await node?.close();
    await before.close();

    const after = await openAtBoot('boot-two');
    const again = await after.nodes.start({ name: 'n' });
    const ended = await (await after.jobs.get(job.id)).wait();
    expect(ended).toMatchObject({
      state: 'FAILED',
      outcome: { reason: 'node-lost', message: expect.stringContaining('rebooted') },
    });
    // These stand for processes that got the old pids: under the new boot they are foreign, and live on.
    expect(markedPids(home)).toEqual(pids);
    await again?.close();
  });

  it('the next attempt starts when the profile says so [U2]', async () => {
    const before = await openAtBoot('boot-one');
    const node = await before.nodes.start({ name: 'n' });
    const run = 'if [ "$RUNYARD_ATTEMPT" = 1 ]; then sleep 300; fi';
    const job = await before.jobs.submit({ job: { name: 'again', run }, profile: { retry: { maxAttempts: 2 } } });
    await runs(job);
    await node?.close();
    await before.close();

    const after = await openAtBoot('boot-two');
    const again = await after.nodes.start({ name: 'n' });
    expect(await (await after.jobs.get(job.id)).wait()).toMatchObject({ state: 'COMPLETED', attempt: 2 });
    await again?.close();
  });
});

describe('a pid that another process has now', () => {
  it('is not signalled when the agent comes back: the attempt is a fault of the node [I17]', async () => {
    const before = await openAtBoot('boot-one');
    const node = await before.nodes.start({ name: 'n' });
    const job = await before.jobs.submit({ job: { name: 'reused', run: ['sleep', '300'] } });
    await runs(job);
    await node?.close();
    await before.close();
    // The records now name this very process, with a start time that is not its own.
    const [attempt] = readdirSync(join(home, 'nodes/n/attempts'));
    const directory = join(home, 'nodes/n/attempts', attempt ?? '');
    const claim = readdirSync(directory).find((name) => name.startsWith('run.claim.')) ?? '';
    const { pid } = JSON.parse(readFileSync(join(directory, claim), 'utf8')) as { pid: number };
    const foreign = (path: string): void => {
      const text = readFileSync(path, 'utf8').replace(`"pid":${pid}`, `"pid":${process.pid}`);
      writeFileSync(path, text);
    };
    foreign(join(directory, claim));

    const after = await openAtBoot('boot-one');
    const again = await after.nodes.start({ name: 'n' });
    const ended = await (await after.jobs.get(job.id)).wait();
    expect(ended).toMatchObject({ state: 'FAILED', outcome: { reason: 'node-fault' } });
    expect(startTicksOf(process.pid)).not.toBeNull();
    expect(markedPids(home)).toEqual([]);
    await again?.close();
  });
});
