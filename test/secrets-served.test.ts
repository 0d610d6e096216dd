import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobHandle, RunningNode, RunyardClient } from '../src/client/api.ts';
import { startServerNode } from '../src/client/remote/agent/start-remote-node.ts';
import { RemoteRunyard } from '../src/client/remote/remote-runyard.ts';
import { createTokens } from '../src/client/tokens.ts';
import { Server } from '../src/server/server.ts';
import { createCanary } from './canary.ts';
import { markedPids, until } from './lab.ts';

const canary = createCanary('sErVeD/e80a17c3d6f4/of a secret');

/** A server, its nodes and a user, each with a home of its own, as if each were another machine's. */
let root: string;
let server: Server;
let client: RunyardClient;
let nodes: RunningNode[];
let log: string;

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'runyard-secrets-'));
  nodes = [];
  log = '';
  server = await Server.start({
    home: join(root, 'server'),
    listen: { host: '127.0.0.1', port: 0 },
    log: {
      write: (line) => {
        log += line;
      },
    },
  });
  const { url, fingerprint, adminToken } = server;
  client = new RemoteRunyard({ address: { url, fingerprint, token: adminToken }, home: join(root, 'user') });
});
afterEach(async () => {
  await client.close();
  for (const node of nodes) await node.close();
  await server.close();
  for (const pid of markedPids(root)) process.kill(pid, 'SIGKILL');
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
});

async function startNode(name: string): Promise<void> {
  const { url, fingerprint } = server;
  const { token } = await createTokens(server.parts.embedded).createJoin();
  const node = await startServerNode({
    home: join(root, name),
    server: { url, fingerprint, joinToken: token },
    node: { name, labels: { node: name } },
  });
  if (node === null) throw new Error(`the name ${name} is taken`);
  nodes.push(node);
}

async function printed(job: JobHandle): Promise<string> {
  let all = '';
  for await (const piece of job.logs()) all += piece;
  return all;
}

describe('a canary secret set over a server', () => {
  it('reaches jobs and yard exec, on a node that came later too, and is found nowhere else [C26] [G14] [R4.25]', async () => {
    await startNode('n1');
    await client.secrets.set('hf', canary.value);
    await startNode('n2');
    await until(async () => (await client.secrets.list())[0]?.nodes.length === 2, 'the share');
    const env = { TOKEN: { secret: 'hf' }, KEY_FILE: { secret: 'hf', file: true } };
    const run =
      'env | cut -d= -f1; printf %s "$TOKEN" | cksum; cksum < "$KEY_FILE"; until [ -e go ]; do sleep 0.05; done; exit 7';
    const job = await client.jobs.submit({
      job: { name: 'leaky', run, env },
      profile: { resources: { labels: { node: 'n2' } } },
    });
    await until(async () => /\n\d+ 31\n\d+ 31\n/.test(await printed(job)), 'the job');
    const stdout = new PassThrough();
    const command = ['sh', '-c', 'printf "%s " "$TOKEN"; cat "$KEY_FILE"'];
    const session = await job.exec({ command, streams: { stdin: null, stdout, stderr: new PassThrough() } });
    void session.ended.then(() => stdout.end());
    expect(await text(stdout)).toBe(`${canary.value} ${canary.value}`);
    expect(canary.processesWithIt()).toEqual([]);
    expect(canary.filesWithIt(root)).toEqual([]);
    const go = await job.exec({ command: ['touch', 'go'], streams: silent() });
    await go.ended;
    const view = await job.wait();
    expect(view.outcome).toMatchObject({ reason: 'exit', exitCode: 7 });
    expect(await printed(job)).toMatch(/^TOKEN$/m);
    const shown: unknown[] = [view, await job.explain(), await client.jobs.list(), await client.secrets.list()];
    for await (const event of client.events()) shown.push(event);
    expect(canary.isIn(JSON.stringify(shown) + (await printed(job)) + log)).toBe(false);
    expect(log).toContain('setSecret');
    expect(canary.filesWithIt(root)).toEqual([]);
    // The server has no key of its own: it could open nothing.
    expect(existsSync(join(root, 'server/secrets.key'))).toBe(false);
  });

  it('is refused while no node could open it, and where a job names it before it is set [U7]', async () => {
    await expect(client.secrets.set('hf', canary.value)).rejects.toMatchObject({ code: 'NO_NODE' });
    const job = { name: 'a', run: 'true', env: { TOKEN: { secret: 'hf' } } };
    await expect(client.jobs.submit({ job })).rejects.toMatchObject({
      code: 'SECRET_NOT_SET',
      message: 'secret "hf" is not set (env.TOKEN)',
      hint: 'yard secrets set hf',
    });
    expect(canary.filesWithIt(root)).toEqual([]);
  });
});

function silent() {
  return { stdin: null, stdout: new PassThrough(), stderr: new PassThrough() };
}
