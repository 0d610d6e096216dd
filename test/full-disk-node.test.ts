import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunyardClient } from '../src/client/api.ts';
import { RemoteRunyard } from '../src/client/remote/remote-runyard.ts';
import { Server } from '../src/server/server.ts';
import { endHome, type Finished, type Lab, openLab } from './lab.ts';

let lab: Lab;
let server: Server;
let client: RunyardClient;
/** The home of a node, on a disk of its own. */
let machine: string;
let isMounted = false;
beforeEach(async () => {
  lab = openLab();
  machine = join(lab.folder, 'machine');
  mkdirSync(machine);
  const mount = ['-t', 'tmpfs', '-o', 'size=100m,mode=0700', 'none', machine];
  isMounted = spawnSync('mount', mount).status === 0;
  server = await Server.start({ home: join(lab.folder, 'server'), listen: { host: '127.0.0.1', port: 0 } });
  const { url, fingerprint, adminToken } = server;
  client = new RemoteRunyard({ address: { url, fingerprint, token: adminToken }, home: join(lab.folder, 'user') });
});
afterEach(async () => {
  await endHome(machine);
  await client.close();
  await server.close();
  if (isMounted) execFileSync('umount', ['-l', machine]);
  await lab.close();
});

function yard(...args: string[]): Promise<Finished> {
  return lab.yard(args, { env: { RUNYARD_HOME: machine, RUNYARD_SERVER: '', RUNYARD_TOKEN: '' } });
}

async function up(): Promise<void> {
  const path = join(lab.folder, 'join.token');
  const { token } = await client.tokens.createJoin();
  writeFileSync(path, `${token}@${server.fingerprint}\n`, { mode: 0o600 });
  expect(await yard('up', '--server', server.url, '--token-file', path, '--name', 'n1')).toMatchObject({ code: 0 });
}

describe('a node whose disk a job fills up', () => {
  it('tells how the job ended, brings home what it wrote, and has room again [C10] [C30] [S5]', async (test) => {
    test.skip(!isMounted, 'a disk of its own can be mounted by root only');
    await up();
    const job = await client.jobs.submit({
      job: { name: 'hog', run: 'echo some > some; cat /dev/zero > hog || exit 9', outputs: ['some'] },
    });
    const { outcome, outputs } = await job.wait();
    expect(outcome).toMatchObject({ reason: 'exit', exitCode: 9 });
    expect(outputs).toMatchObject([{ path: 'some', state: 'collected' }]);
    const next = await client.jobs.submit({ job: { name: 'next', run: 'true' } });
    expect(await next.wait()).toMatchObject({ state: 'COMPLETED' });
  });

  it('says what is full where an agent cannot even begin', async (test) => {
    test.skip(!isMounted, 'a disk of its own can be mounted by root only');
    await up();
    await yard('down', '--name', 'n1', '--keep');
    spawnSync('dd', ['if=/dev/zero', `of=${join(machine, 'filler')}`, 'bs=4096'], { stdio: 'ignore' });
    const refused = await yard('node', 'start', '--name', 'n1');
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/machine\/nodes\/n1\/.*full.*\n {2}the disk is full: make room there/),
    ]);
  });

  it('is served by the next agent all the same, which gives its ballast up for that [B3] [I16]', async (test) => {
    test.skip(!isMounted, 'a disk of its own can be mounted by root only');
    await up();
    const job = await client.jobs.submit({ job: { name: 'long', run: 'echo begun; exec sleep 300' } });
    for await (const text of job.logs({ follow: true })) if (text.includes('begun')) break;
    await yard('down', '--name', 'n1', '--keep');
    writeFileSync(join(machine, 'nodes/n1/ballast'), Buffer.alloc(8 * 1024 * 1024));
    spawnSync('dd', ['if=/dev/zero', `of=${join(machine, 'filler')}`, 'bs=4096'], { stdio: 'ignore' });
    expect(await yard('up', '--name', 'n1')).toMatchObject({ code: 0 });
    expect(existsSync(join(machine, 'nodes/n1/ballast'))).toBe(false);
    expect(await job.view()).toMatchObject({ state: 'RUNNING', attempt: 1 });
    await job.stop();
    expect(await job.wait()).toMatchObject({ outcome: { reason: 'stopped' } });
    rmSync(join(machine, 'filler'));
  });
});
