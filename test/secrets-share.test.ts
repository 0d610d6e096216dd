import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Agent } from '../src/agent/agent.ts';
import type { Sealing } from '../src/agent/secrets/sealing.ts';
import { createEmbeddedChannel } from '../src/client/embedded-channel.ts';
import { createJobs } from '../src/client/jobs.ts';
import { type OpenEmbedded, openEmbedded } from '../src/client/open-embedded.ts';
import { openSealing } from '../src/client/secrets/sealing.ts';
import { createSecrets } from '../src/client/secrets/secrets.ts';
import { createCanary } from './canary.ts';
import { until } from './lab.ts';

const canary = createCanary('sHaReD/5b1e9c77a2f0/of a secret');

/** Nodes over one log, each with a key of its own, as if each were another machine's. */
let root: string;
let opened: OpenEmbedded;
const agents: Agent[] = [];

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'runyard-share-'));
  opened = await openEmbedded({ home: join(root, 'home') });
});
afterEach(async () => {
  for (const agent of agents.splice(0)) await agent.close({ leave: true });
  await opened.close();
  rmSync(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
});

async function startNode(node: string, labels: Readonly<Record<string, string>> = {}): Promise<Sealing> {
  const { embedded } = opened;
  const { host, store } = embedded;
  const sealing = await openSealing(mkdtempSync(join(root, 'key-')));
  const directory = join(root, 'home/nodes', node);
  await host.files.makeDirectory(directory, { mode: 0o700 });
  const agent = await Agent.start({
    host,
    channel: createEmbeddedChannel(embedded, node, `${node}-1`),
    store,
    directory,
    node,
    instance: `${node}-1`,
    capacity: { cpus: 1, memoryMiB: 1024, gpus: [], labels },
    advertise: '127.0.0.1',
    version: '0.0.0',
    environment: { PATH: process.env.PATH },
    sealing,
    onFault: (error) => {
      throw error;
    },
  });
  agents.push(agent);
  return sealing;
}

describe('a node that joins after a secret was set', () => {
  it('is given it by one that can open it, and runs what needs it, with no value on the way [G14]', async () => {
    const secrets = createSecrets(opened.embedded);
    await startNode('old');
    await secrets.set('hf', canary.value);
    expect(await secrets.list()).toMatchObject([{ name: 'hf', nodes: ['old'], closedTo: [] }]);
    await startNode('new', { only: 'new' });
    await until(async () => (await secrets.list())[0]?.nodes.length === 2, 'the share');
    const job = await createJobs(opened.embedded).submit({
      job: { name: 'a', run: 'printf %s "$HF" | wc -c', env: { HF: { secret: 'hf' } } },
      profile: { resources: { labels: { only: 'new' } } },
    });
    expect((await job.wait()).tasks[0]).toMatchObject({ node: 'new', exitCode: 0 });
    let printed = '';
    for await (const piece of job.logs()) printed += piece;
    expect(printed.trim()).toBe(String(canary.value.length));
    expect(canary.filesWithIt(root)).toEqual([]);
  });

  it('waits for it as long as nobody can, and says so [B10]', async () => {
    const secrets = createSecrets(opened.embedded);
    await startNode('old');
    await secrets.set('hf', canary.value);
    await agents.splice(0)[0]?.close({ leave: true });
    await startNode('new');
    const job = await createJobs(opened.embedded).submit({
      job: { name: 'a', run: 'true', env: { HF: { secret: 'hf' } } },
    });
    expect((await job.explain()).sentence).toBe(
      `${job.id} is PENDING: it needs secret hf, which no ready node can open: yard secrets set hf`,
    );
    await secrets.set('hf', canary.value);
    expect((await job.wait()).state).toBe('COMPLETED');
  });
});
