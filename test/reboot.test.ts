import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDirectoryStore } from '../src/blobs/directory-store.ts';
import type { Embedded } from '../src/client/embedded.ts';
import { createJobs } from '../src/client/jobs.ts';
import { createNodes } from '../src/client/nodes.ts';
import type { JobHandle, Jobs, Nodes } from '../src/client/api.ts';
import { ControlPlane } from '../src/control/control-plane.ts';
import type { Fact } from '../src/core/fact.ts';
import type { Host } from '../src/host/host.ts';
import { createNodeHost } from '../src/host/node/node-host.ts';
import { createNodeProcesses } from '../src/host/node/processes.ts';
import { openSqliteLog } from '../src/log/sqlite.ts';
import { markedPids, startTicksOf, until } from './lab.ts';

let home: string;
const opened: { close(): Promise<void> }[] = [];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'runyard-reboot-'));
});
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
  for (const pid of markedPids(home)) process.kill(pid, 'SIGKILL');
  await until(() => markedPids(home).length === 0);
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
});

/** A client whose machine says that it was booted with this id. */
async function openAtBoot(bootId: string): Promise<{ jobs: Jobs; nodes: Nodes; close(): Promise<void> }> {
  const processes = createNodeProcesses({ directory: `${home}/shim` });
  const real = createNodeHost(processes);
  const host: Host = {
    ...real,
    clock: { wallMs: () => real.clock.wallMs(), bootMs: () => real.clock.bootMs(), bootId: () => bootId },
  };
  const log = await openSqliteLog<Fact>({ path: `${home}/log.db`, host, pid: process.pid });
  const plane = await ControlPlane.open(log, host, () => {});
  const store = await openDirectoryStore({ directory: `${home}/blobs`, host });
  const embedded: Embedded = { home, host, plane, store, onFault: () => {} };
  const client = {
    jobs: createJobs(embedded),
    nodes: createNodes(embedded),
    close: async () => {
      await plane.close();
      processes.close();
    },
  };
  opened.push(client);
  return client;
}

async function runs(job: JobHandle): Promise<void> {
  await until(async () => (await job.view()).tasks[0]?.step === 'run' && markedPids(home).length > 0, 'the run of the job');
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
    const { writeFileSync } = await import('node:fs');
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
