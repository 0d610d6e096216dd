import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type EmbeddedLab, openEmbeddedLab } from './embedded-lab.ts';

let lab: EmbeddedLab;
beforeEach(() => {
  lab = openEmbeddedLab();
});
afterEach(() => lab.close());

describe('a task whose start ends the agent', () => {
  it('is tried a limited number of times, then fails with that reason; other work goes on [C31]', async () => {
    const submitter = await lab.open();
    let deaths = 0;
    const startAgent = async () => {
      const client = await lab.open((host) => ({
        ...host,
        processes: {
          ...host.processes,
          launch: (launch) => {
            if (launch.argv.includes('poison')) throw new TypeError('the agent has a bug that this task meets');
            return host.processes.launch(launch);
          },
        },
      }));
      const node = await client.nodes.start({ name: 'n', wait: true });
      if (node === null) throw new Error('the node was taken');
      return { client, node };
    };
    let agent = await startAgent();
    const poison = await submitter.jobs.submit({ job: { name: 'poison', run: ['echo', 'poison'] } });
    for (;;) {
      const ended = await Promise.race([agent.node.failed.then(() => null), poison.wait()]);
      if (ended !== null) {
        expect(ended).toMatchObject({
          state: 'FAILED',
          outcome: { reason: 'node-fault', message: expect.stringMatching(/again and again/) },
        });
        break;
      }
      deaths += 1;
      expect(deaths).toBeLessThan(10);
      await agent.node.close();
      await agent.client.close();
      agent = await startAgent();
    }
    expect(deaths).toBeGreaterThan(1);
    const healthy = await submitter.jobs.submit({ job: { name: 'healthy', run: 'true' } });
    expect(await healthy.wait()).toMatchObject({ state: 'COMPLETED' });
    await agent.node.close();
  });
});
