import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RunningNode } from '../../client/api.ts';
import { createJobs } from '../../client/jobs.ts';
import { createProjects } from '../../client/projects.ts';
import type { RefusalError } from '../../client/refusal-error.ts';
import { startServerNode } from '../../client/remote/agent/start-remote-node.ts';
import { RemoteRunyard } from '../../client/remote/remote-runyard.ts';
import { createServices } from '../../client/services.ts';
import { createTokens } from '../../client/tokens.ts';
import { leaseTimes } from '../../core/node/lease-times.ts';
import { Server } from '../server.ts';
import type { ServerLimits } from '../settings.ts';

const home = mkdtempSync(join(tmpdir(), 'runyard-elsewhere-'));
let server: Server;
let node: RunningNode | null = null;
let notes: string[] = [];

async function startServer(port = 0, limits: Partial<ServerLimits> = {}): Promise<Server> {
  return Server.start({ home: `${home}/server`, listen: { host: '127.0.0.1', port }, limits });
}

async function startNode(joinToken?: string): Promise<RunningNode> {
  const { url, fingerprint } = server;
  const started = await startServerNode({
    home: `${home}/node`,
    server: { url, fingerprint, ...(joinToken === undefined ? {} : { joinToken }) },
    node: { name: 'n1', cpus: 4 },
    onNote: (message) => notes.push(message),
  });
  if (started === null) throw new Error('the name n1 is taken');
  return started;
}

async function newToken(): Promise<string> {
  return (await createTokens(server.parts.embedded).createJoin()).token;
}

beforeEach(async () => {
  notes = [];
  server = await startServer();
  node = await startNode(await newToken());
});
afterEach(async () => {
  for (const { job } of node?.liveTasks() ?? []) await node?.endTasks(job, { graceMs: 0 });
  await node?.close();
  await server.close();
  rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
});

const jobs = () => createJobs(server.parts.embedded);
const textOf = async (pieces: AsyncIterable<string>): Promise<string> => {
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
};

describe('a node of a server', () => {
  it('runs a job whose whole log is with the server when it has ended, and with the server alone', async () => {
    const job = await jobs().submit({ job: { name: 'hello', run: 'echo one; echo two >&2; echo three' } });
    expect((await job.wait()).state).toBe('COMPLETED');
    const log = await textOf(job.logs());
    expect(log.split('\n').sort()).toEqual(['', 'one', 'three', 'two']);
    expect(statSync(`${home}/server/nodes/n1/attempts/${job.id}.0.0.1/run.out`).size).toBe(10);
  });

  it('brings outputs and workspaces over their own path', async () => {
    const work = mkdtempSync(join(home, 'work-'));
    const remote = new RemoteRunyard({
      address: { url: server.url, fingerprint: server.fingerprint, token: server.adminToken },
      home: `${home}/user`,
    });
    const source = {
      job: { name: 'out', run: 'cp in.txt out.txt', workspace: { workdir: '.' }, outputs: ['out.txt'] },
    };
    await import('node:fs/promises').then(({ writeFile }) => writeFile(`${work}/in.txt`, 'carried\n'));
    const job = await remote.jobs.submit(source, { baseDirectory: work });
    expect((await job.wait()).state).toBe('COMPLETED');
    await job.land({ to: `${home}/landed` });
    expect(readFileSync(`${home}/landed/out.txt`, 'utf8')).toBe('carried\n');
    await remote.close();
  });

  it('shows what there is of the outputs of a live job, and runs a command beside it', async () => {
    const remote = new RemoteRunyard({
      address: { url: server.url, fingerprint: server.fingerprint, token: server.adminToken },
      home: `${home}/user`,
    });
    const run = 'echo so far > out.txt; echo ready; exec sleep 100';
    const job = await remote.jobs.submit({ job: { name: 'live', run, outputs: ['out.txt'] } });
    for await (const text of job.logs({ follow: true })) if (text.includes('ready')) break;
    expect(await job.outputs()).toMatchObject([{ path: 'out.txt', state: 'collected', size: 7 }]);
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const stdin = new PassThrough();
    const command = ['sh', '-c', 'cat; echo "$RUNYARD_JOB_ID" >&2; cat out.txt; exit 7'];
    const session = await job.exec({ command, streams: { stdin, stdout, stderr } });
    stdin.end('typed\n');
    expect(await session.ended).toMatchObject({ exitCode: 7, signal: null });
    expect(String(stdout.read())).toBe('typed\nso far\n');
    await job.stop({ graceMs: 0 });
    await job.wait();
    await remote.close();
  });

  it('goes on through a restart of the server, which loses nothing of what happens meanwhile', async () => {
    const job = await jobs().submit({
      job: { name: 'long', run: 'echo begun; while [ ! -e ../go ]; do sleep 0.05; done; echo END' },
    });
    for await (const text of job.logs({ follow: true })) if (text.includes('begun')) break;
    const port = server.port;
    await server.close();
    await import('node:fs/promises').then(({ writeFile }) =>
      writeFile(`${home}/node/nodes/n1/attempts/${job.id}.0.0.1/go`, ''),
    );
    server = await startServer(port);
    const again = await jobs().get(job.id);
    expect((await again.wait()).state).toBe('COMPLETED');
    expect(await textOf(again.logs())).toBe('begun\nEND\n');
    expect(notes.at(-1)).toContain('is there again');
  });

  it('stays ready over many heartbeats of real clocks, and so does the server', async () => {
    await node?.close();
    await server.close();
    const faults: unknown[] = [];
    server = await Server.start({
      home: `${home}/server`,
      listen: { host: '127.0.0.1', port: server.port },
      leaseTimes: { ...leaseTimes, heartbeatMs: 20 },
      onFault: (error) => faults.push(error),
    });
    node = await startNode();
    const { plane } = server.parts.embedded;
    const heardAtMs = new Set<number | null>();
    await vi.waitFor(async () => {
      for (const lease of await plane.log.readLeases()) if (lease.name === 'node/n1') heardAtMs.add(lease.heardAtMs);
      expect(heardAtMs.size).toBeGreaterThan(5);
    });
    expect(faults).toEqual([]);
    expect(plane.state.nodes.get('n1')?.presence.kind).toBe('up');
  });

  it('is left for an upgrade while its service answers every request [B3]', async () => {
    const run = `exec ${process.execPath} -e 'require("node:http").createServer((_, r) => r.end("ok")).listen(process.env.PORT)'`;
    const services = createServices(server.parts.embedded);
    const profile = { replicas: 1, readiness: { http: '/', interval: '100ms' }, rollout: { minReady: '0s' } };
    await services.apply({ service: { name: 'web', run }, profile });
    const web = await services.get('web');
    for await (const view of web.watch()) if (view.endpoints.length > 0) break;
    const [endpoint] = (await web.view()).endpoints;
    const answers: string[] = [];
    let isOver = false;
    const asking = (async () => {
      while (!isOver) answers.push(await (await fetch(`http://${endpoint?.endpoint}`)).text());
    })();
    await vi.waitFor(() => expect(answers.length).toBeGreaterThan(5));
    await node?.close();
    const beforeIt = answers.length;
    await vi.waitFor(() => expect(answers.length).toBeGreaterThan(beforeIt + 5));
    node = await startNode();
    isOver = true;
    await asking;
    expect(answers.every((text) => text === 'ok')).toBe(true);
    expect((await web.view()).endpoints).toEqual([endpoint]);
    await web.remove();
    for await (const view of web.watch()) if (view.replicas.length === 0) break;
  });

  it('ends a command beside a task when whoever asked is gone, and tells them when the node is', async () => {
    const remote = new RemoteRunyard({
      address: { url: server.url, fingerprint: server.fingerprint, token: server.adminToken },
      home: `${home}/user`,
    });
    const job = await remote.jobs.submit({ job: { name: 'beside', run: 'echo begun; exec sleep 100' } });
    for await (const text of job.logs({ follow: true })) if (text.includes('begun')) break;
    const streams = () => ({ stdin: null, stdout: new PassThrough(), stderr: new PassThrough() });
    const gone = `${home}/gone`;
    const command = ['sh', '-c', `trap 'echo hup > ${gone}; exit' HUP; echo up; while :; do sleep 0.02; done`];
    const other = new RemoteRunyard({
      address: { url: server.url, fingerprint: server.fingerprint, token: server.adminToken },
      home: `${home}/user`,
    });
    const first = streams();
    const session = await (await other.jobs.get(job.id)).exec({ command, streams: first });
    await once(first.stdout, 'data');
    session.terminate();
    expect(await session.ended).toMatchObject({ exitCode: null, signal: 15 });
    const second = streams();
    const left = await (await other.jobs.get(job.id)).exec({ command, streams: second });
    await once(second.stdout, 'data');
    await node?.close();
    await expect(left.ended).rejects.toThrow();
    await vi.waitFor(() => expect(existsSync(gone)).toBe(true));
    node = await startNode();
    await job.stop({ graceMs: 0 });
    await job.wait();
    await other.close();
    await remote.close();
  });

  it('ends a command whose token was revoked, or whose role was taken away, while it runs [X29]', async () => {
    await server.close();
    server = await startServer(server.port, { keepAliveMs: 20 });
    const { embedded } = server.parts;
    const tokens = createTokens(embedded);
    const bob = await tokens.create({ user: 'bob' });
    const address = { url: server.url, fingerprint: server.fingerprint, token: bob.token };
    const remote = new RemoteRunyard({ address, home: `${home}/bob` });
    const job = await remote.jobs.submit({ job: { name: 'mine', run: 'echo begun; exec sleep 100' } });
    for await (const text of job.logs({ follow: true })) if (text.includes('begun')) break;
    const open = async () => {
      const streams = { stdin: null, stdout: new PassThrough(), stderr: new PassThrough() };
      const session = await job.exec({ command: ['sh', '-c', 'echo up; exec sleep 100'], streams });
      await once(streams.stdout, 'data');
      return { ended: session.ended };
    };
    const withdraw = {
      'the role': () => createProjects(embedded).change('default', { everyone: 'viewer' }),
      'the token': () => tokens.revoke(bob.id),
    };
    const codes: string[] = [];
    for (const take of Object.values(withdraw)) {
      const { ended } = await open();
      const told = ended.catch((error: RefusalError) => codes.push(error.code));
      await take();
      await told;
      await createProjects(embedded).change('default', { everyone: 'member' });
    }
    expect(codes).toEqual(['FORBIDDEN', 'UNAUTHORIZED']);
    await createJobs(embedded)
      .get(job.id)
      .then((one) => one.stop({ graceMs: 0 }));
    await remote.close();
  });

  it('is not even asked for a command by somebody who may run none there [X29]', async () => {
    const job = await jobs().submit({ job: { name: 'mine', run: 'echo begun; exec sleep 100' } });
    for await (const text of job.logs({ follow: true })) if (text.includes('begun')) break;
    const { token } = await createTokens(server.parts.embedded).create({ user: 'bob' });
    const address = { url: server.url, fingerprint: server.fingerprint, token };
    const bob = new RemoteRunyard({ address, home: `${home}/bob` });
    const streams = { stdin: null, stdout: new PassThrough(), stderr: new PassThrough() };
    const theirs = await bob.jobs.get(job.id);
    await expect(theirs.exec({ command: ['touch', `${home}/touched`], streams })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    });
    expect(existsSync(`${home}/touched`)).toBe(false);
    await bob.close();
    await job.stop({ graceMs: 0 });
    await job.wait();
  });

  it('is left for an upgrade without its job noticing, and adopts it under the next agent [B3]', async () => {
    const job = await jobs().submit({ job: { name: 'long', run: 'echo $$ > pid; echo begun; exec sleep 100' } });
    for await (const text of job.logs({ follow: true })) if (text.includes('begun')) break;
    await node?.close();
    expect((await job.view()).state).toBe('RUNNING');
    node = await startNode();
    expect(node.liveTasks()).toMatchObject([{ job: job.id }]);
    expect((await job.view()).attempt).toBe(1);
    await job.stop({ graceMs: 0 });
    await job.wait();
  });

  it('has a key of its own after the first start; a token lets in one node, once', async () => {
    const key = statSync(`${home}/node/nodes/n1/node.key`);
    expect(key.mode & 0o777).toBe(0o600);
    const token = await newToken();
    await node?.close();
    node = await startNode(token);
    const second = (name: string) =>
      startServerNode({
        home: `${home}/${name}`,
        server: { url: server.url, fingerprint: server.fingerprint, joinToken: token },
        node: { name },
      });
    const other = await second('n2');
    await expect(second('n3')).rejects.toThrow('the token');
    await other?.close();
  });
});
