import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobHandle, RunningNode } from '../src/client/api.ts';
import { type EmbeddedClient, type EmbeddedLab, openEmbeddedLab } from './embedded-lab.ts';
import { markedPids, until } from './lab.ts';

let lab: EmbeddedLab;
let client: EmbeddedClient;
const nodes: RunningNode[] = [];

beforeEach(async () => {
  lab = openEmbeddedLab();
  client = await lab.open();
});
afterEach(async () => {
  for (const node of nodes.splice(0)) await node.close();
  await lab.close();
});

/** Named nodes on one home, each with a client of its own, as separate processes would have. */
async function startNodes(count: number): Promise<void> {
  for (let number = 0; number < count; number += 1) {
    const own = await lab.open();
    const node = await own.nodes.start({ name: `n${number}`, cpus: 2 });
    if (node === null) throw new Error(`node n${number} was taken`);
    nodes.push(node);
  }
}

async function textOf(job: JobHandle): Promise<string> {
  let text = '';
  for await (const piece of job.logs()) text += piece;
  return text;
}

describe('a distributed job', () => {
  it('has its ranks placed on distinct nodes together, each told where rank 0 is [G6] [U3]', async () => {
    await startNodes(3);
    const run = 'echo "rank $RANK of $WORLD_SIZE local $LOCAL_RANK node $NODE_RANK at $MASTER_ADDR:$MASTER_PORT"';
    const job = await client.jobs.submit({ job: { name: 'ranks', run, outputs: [] }, profile: { nodes: 3 } });
    const ended = await job.wait();
    expect(ended).toMatchObject({ state: 'COMPLETED' });
    expect(new Set(ended.tasks.map(({ node }) => node)).size).toBe(3);
    const lines = (await textOf(job)).trim().split('\n').sort();
    const address = /at (127\.0\.0\.1:\d+)$/.exec(lines[0] ?? '')?.[1];
    expect(lines).toEqual([0, 1, 2].map((rank) => `rank ${rank} of 3 local 0 node ${rank} at ${address}`));
  });

  it('waits whole until there are nodes for all of it, and says for how many [U3] [B10]', async () => {
    await startNodes(1);
    const job = await client.jobs.submit({ job: { name: 'pair', run: 'true' }, profile: { nodes: 2 } });
    expect((await job.view()).waiting).toMatchObject({
      reason: 'too-few-nodes',
      message: 'needs 2 nodes at once, 1 could take it',
    });
    const own = await lab.open();
    const second = await own.nodes.start({ name: 'n-late', cpus: 2 });
    if (second !== null) nodes.push(second);
    expect(await job.wait()).toMatchObject({
      state: 'COMPLETED',
      outcome: { exitCode: 0, message: 'every rank exited with code 0' },
    });
  });

  it('ends as a whole when one rank fails: its peers are stopped, and the verdict names the rank [C19] [U3]', async () => {
    await startNodes(4);
    const run = 'if [ "$RANK" = 2 ]; then sleep 0.3; exit 1; fi; sleep 10000';
    const job = await client.jobs.submit({ job: { name: 'one-dies', run }, profile: { nodes: 4, grace: '1s' } });
    const ended = await job.wait();
    expect(ended).toMatchObject({
      state: 'FAILED',
      outcome: { reason: 'exit', exitCode: 1, message: expect.stringContaining('rank 2') },
    });
    await until(() => markedPids(lab.home).length === 0, 'the end of the peers');
  });
});
