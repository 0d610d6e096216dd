import { afterAll, describe, expect, it } from 'vitest';
import type { Host } from '../src/host/host.ts';
import { openEmbeddedLab } from './embedded-lab.ts';

describe('following the log of an array', () => {
  const lab = openEmbeddedLab();
  afterAll(() => lab.close());

  it('looks at each part for as long as it runs, and not again each time another part says something [B3]', async () => {
    let looks = 0;
    const counting = (host: Host): Host => ({
      ...host,
      files: new Proxy(host.files, {
        get(files, name: keyof Host['files']) {
          if (name === 'list') looks += 1;
          const method: unknown = files[name];
          return typeof method === 'function' ? method.bind(files) : method;
        },
      }),
    });
    const server = await lab.open();
    const node = await server.nodes.start({ name: 'here', cpus: 4 });
    const reader = await lab.open(counting);
    const size = 60;
    const job = await reader.jobs.submit({
      job: { name: 'parts', run: 'echo part $RUNYARD_INDEX' },
      profile: { array: { size }, resources: { cpus: 1 } },
    });
    const lines: string[] = [];
    for await (const text of job.logs({ follow: true })) lines.push(...text.trim().split('\n'));
    expect(lines.sort()).toEqual(Array.from({ length: size }, (_, index) => `part ${index}`).sort());
    // A handful for each stream of each part; looking at all of them at each word made some thousands of it.
    expect(looks / size).toBeLessThan(40);
    await node?.close();
  });
});
