import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunningNode } from '../src/client/api.ts';
import { createServices } from '../src/client/services.ts';
import { type EmbeddedClient, type EmbeddedLab, openEmbeddedLab } from './embedded-lab.ts';
import { markedPids, until } from './lab.ts';

let lab: EmbeddedLab;
let client: EmbeddedClient;
const machines = new Map<string, { readonly client: EmbeddedClient; readonly node: RunningNode }>();

beforeEach(async () => {
  lab = openEmbeddedLab();
  client = await lab.open();
});
afterEach(async () => {
  for (const { client: own, node } of machines.values()) {
    await node.close();
    await own.close();
  }
  machines.clear();
  await lab.close();
});

async function startMachine(name: string): Promise<void> {
  const own = await lab.open();
  const node = await own.nodes.start({ name, cpus: 4, wait: true });
  if (node === null) throw new Error(`node ${name} was taken`);
  machines.set(name, { client: own, node });
}

describe('a node that must be empty by a deadline', () => {
  it('has its replicas replaced elsewhere with none missing, and its jobs stopped then, to go on elsewhere [X12] [I19] [B10]', async () => {
    const services = createServices(client.embedded);
    await startMachine('a');
    const resources = { cpus: 0.1 };
    const profile = { replicas: 2, spread: 'none', grace: '1s', port: false, resources, rollout: { minReady: '0s' } };
    await services.apply({ service: { name: 'web', run: 'exec sleep 1000' }, profile });
    const job = await client.jobs.submit({
      job: { name: 'long', run: 'exec sleep 1000' },
      profile: { retry: { maxAttempts: 2 }, grace: '1s', resources },
    });
    const web = await services.get('web');
    await until(async () => (await web.view()).ready === 2, 'two replicas that are ready');
    await startMachine('b');

    await client.nodes.drain('a', { reason: 'new disk', deadlineMs: 3000 });
    let least = 2;
    for await (const view of web.watch()) {
      least = Math.min(least, view.ready);
      const nodes = view.replicas.flatMap(({ tasks }) => tasks.map(({ node }) => node));
      if (view.ready === 2 && nodes.join() === 'b,b') break;
    }
    expect(least).toBe(2);
    const during = await client.nodes.get('a');
    expect(during).toMatchObject({ state: 'DRAINING', reason: 'new disk', leased: false, heardAt: null });
    expect(Date.parse(during.drainDeadlineAt ?? '')).toBeGreaterThan(Date.now() - 60_000);

    await until(async () => (await job.view()).tasks[0]?.node === 'b', 'the next attempt elsewhere');
    const view = await job.view();
    expect(view).toMatchObject({ state: 'RUNNING', attempt: 2 });
    expect(view.tasks[0]?.lastFailure).toBe('node a had to be empty by now (new disk)');
    expect(await client.nodes.get('a')).toMatchObject({ state: 'DRAINED', tasks: [] });
    await until(() => markedPids(lab.home).length === 3, 'three processes, all on the other node');

    await web.remove();
    await job.stop({ graceMs: 0 });
    await until(() => markedPids(lab.home).length === 0, 'the end of its processes');
  });
});
