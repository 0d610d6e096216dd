import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { JobHandle, RunningNode, ServiceHandle } from '../src/client/api.ts';
import { createJobs } from '../src/client/jobs.ts';
import { createNodes } from '../src/client/nodes.ts';
import { startServerNode } from '../src/client/remote/agent/start-remote-node.ts';
import { createServices } from '../src/client/services.ts';
import { createTokens } from '../src/client/tokens.ts';
import { Server } from '../src/server/server.ts';
import { Wire } from './wire.ts';

/** As the real ones, thirty times as fast. */
const leaseTimes = { heartbeatMs: 150, leaseMs: 1000, graceMs: 1500, afterOutageMs: 5000 };

let home: string;
let server: Server;
let wire: Wire;
let nodes: RunningNode[] = [];

async function startNode(name: string, port: number): Promise<void> {
  const { token } = await createTokens(server.parts.embedded).createJoin();
  const started = await startServerNode({
    home: `${home}/${name}`,
    server: { url: `https://127.0.0.1:${port}`, fingerprint: server.fingerprint, joinToken: token },
    node: { name, cpus: 4, labels: { at: name } },
  });
  if (started === null) throw new Error(`the name ${name} is taken`);
  nodes.push(started);
}

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'runyard-loss-'));
  nodes = [];
  server = await Server.start({ home: `${home}/server`, listen: { host: '127.0.0.1', port: 0 }, leaseTimes });
  wire = new Wire(server.port);
  await wire.open();
  await startNode('n1', wire.port);
});
afterEach(async () => {
  wire.cut('none');
  for (const node of nodes) await node.close();
  wire.close();
  await server.close();
  rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
});

const jobs = () => createJobs(server.parts.embedded);
const stateOf = async (node: string): Promise<string> => (await createNodes(server.parts.embedded).get(node)).state;
const soon = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 15_000, interval: 50 });

/** A job that writes its pid and runs until it is ended. */
async function submit(name: string, profile: object): Promise<JobHandle> {
  const job = await jobs().submit({
    job: { name, run: 'echo $$ > pid; echo begun; exec sleep 1000' },
    profile: { grace: '1s', resources: { cpus: 0.1 }, ...profile },
  });
  for await (const text of job.logs({ follow: true })) if (text.includes('begun')) break;
  return job;
}

/** A service of one replica, which is ready. */
async function serve(name: string): Promise<ServiceHandle> {
  const services = createServices(server.parts.embedded);
  const run = 'echo $$ > pid; exec sleep 1000';
  const profile = { replicas: 1, port: false, grace: '1s', resources: { cpus: 0.1 }, rollout: { minReady: '0s' } };
  await services.apply({ service: { name, run }, profile });
  const service = await services.get(name);
  await soon(async () => expect((await service.view()).ready).toBe(1));
  return service;
}

/** What it wrote about itself, as soon as it has. */
function pidOf(node: string, { id }: { readonly id: string }, attempt: number): Promise<number> {
  const path = `${home}/${node}/nodes/${node}/attempts/${id}.0.0.${attempt}/work/pid`;
  return vi.waitFor(() => {
    const text = readFileSync(path, 'utf8');
    if (!text.endsWith('\n')) throw new Error(`${path} is not written yet`);
    return Number(text);
  });
}

const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`);

describe('a node that is cut off beyond its grace', () => {
  it('and heals: of each work exactly one copy lives, the stale one is ended, what waited goes on [C8] [X12] [S11] [X23] [I9] [I12] [I14] [I25]', async () => {
    const again = await submit('again', { retry: { maxAttempts: 2 } });
    const waits = await submit('waits', { onNodeLoss: 'wait' });
    const fails = await submit('fails', { onNodeLoss: 'fail' });
    const web = await serve('web');
    const [replica] = (await web.view()).replicas;
    const works = [again, waits, fails, { id: replica?.id ?? '' }];
    const pids = await Promise.all(works.map((work) => pidOf('n1', work, 1)));
    await startNode('n2', server.port);

    wire.cut('both');
    await soon(async () => expect(await stateOf('n1')).toBe('LOST'));
    await soon(async () =>
      expect((await again.view()).tasks[0]).toMatchObject({ node: 'n2', attempt: 2, step: 'run' }),
    );
    expect((await fails.view()).outcome).toMatchObject({ reason: 'node-lost', message: 'node n1 is lost' });
    expect(await waits.view()).toMatchObject({ state: 'RUNNING', attempt: 1, waiting: { reason: 'node-lost' } });
    await soon(async () => expect((await web.view()).ready).toBe(1));
    expect((await web.view()).replicas.map(({ tasks }) => tasks[0]?.node)).toEqual(['n1', 'n2']);
    // Nobody can reach it: its copies run on.
    expect(pids.map(isAlive)).toEqual([true, true, true, true]);

    wire.cut('none');
    await soon(async () => expect(await stateOf('n1')).toBe('READY'));
    await soon(async () => expect(pids.map(isAlive)).toEqual([false, true, false, false]));
    const node = () => createNodes(server.parts.embedded).get('n1');
    await soon(async () => expect((await node()).tasks).toEqual([`${waits.id}.0.0.1`]));
    expect(await waits.view()).toMatchObject({ state: 'RUNNING', attempt: 1, waiting: null });
    expect((await web.view()).replicas.map(({ tasks }) => tasks[0]?.node)).toEqual(['n2']);
    expect(isAlive(await pidOf('n2', again, 2))).toBe(true);

    await web.remove();
    for (const job of [again, waits]) await job.stop({ graceMs: 0 });
    expect((await waits.wait()).outcome?.reason).toBe('stopped');
    await again.wait();
  });

  it('in one direction only is lost the same, and a person need not wait for it [X12]', async () => {
    const waits = await submit('waits', { onNodeLoss: 'wait' });
    const pid = await pidOf('n1', waits, 1);
    await startNode('n2', server.port);
    await expect(waits.retry()).rejects.toThrow('only an ended job can be run again');

    wire.cut('from-node');
    await soon(async () => expect((await waits.view()).waiting?.reason).toBe('node-lost'));
    expect((await waits.retry()).id).toBe(waits.id);
    await soon(async () =>
      expect((await waits.view()).tasks[0]).toMatchObject({ node: 'n2', attempt: 2, step: 'run' }),
    );

    wire.cut('none');
    await soon(async () => expect(isAlive(pid)).toBe(false));
    await soon(async () => expect((await createNodes(server.parts.embedded).get('n1')).tasks).toEqual([]));
    await waits.stop({ graceMs: 0 });
    await waits.wait();
  });

  it('is not lost by an outage of the server itself: its work goes on under the next [X12] [G10]', async () => {
    const job = await submit('again', { retry: { maxAttempts: 2 } });
    const { port } = server;
    await server.close();
    // Longer than lease and grace together.
    await new Promise((resolve) => setTimeout(resolve, leaseTimes.leaseMs + leaseTimes.graceMs + 500));
    server = await Server.start({ home: `${home}/server`, listen: { host: '127.0.0.1', port }, leaseTimes });
    await soon(async () => {
      const events = await createNodes(server.parts.embedded).get('n1');
      expect(Date.now() - Date.parse(events.heardAt ?? '')).toBeLessThan(2000);
    });
    const same = await jobs().get(job.id);
    expect(await same.view()).toMatchObject({ state: 'RUNNING', attempt: 1 });
    await same.stop({ graceMs: 0 });
    await same.wait();
  });
});
