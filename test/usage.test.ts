import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EventView, RunyardClient, UsageQuery, UsageRow } from '../src/client/api.ts';
import { type Lab, openLab } from './lab.ts';

/** A machine with two GPUs, as far as it says so. */
const smi = `#!/bin/sh
case "$*" in
  *--query-gpu=*) printf '0, GPU-aaaa, NVIDIA H100 80GB HBM3, 81559\\n1, GPU-bbbb, NVIDIA H100 80GB HBM3, 81559\\n' ;;
esac
`;

const service = `[service]
name = "llm"
run = "exec sleep 1000"

[profile]
replicas = 2
port = false
resources = { gpus = 1, cpus = 0.5 }
grace = "1s"
rollout = { minReady = "0s" }
`;

let lab: Lab;
let yard: RunyardClient;
let env: Record<string, string>;

beforeAll(async () => {
  lab = openLab();
  const bin = join(lab.folder, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'nvidia-smi'), smi, { mode: 0o755 });
  env = { PATH: `${bin}:${process.env.PATH ?? ''}` };
  await lab.yard(['up', '--cpus', '4'], { env });
  yard = await lab.client();
  await yard.projects.create('ml');
});
afterAll(async () => {
  await yard.close();
  await lab.yard(['down', '--stop']);
  await lab.close();
});

async function rowOf(name: string, query: UsageQuery = {}): Promise<UsageRow> {
  return (await yard.usage(query)).rows.find((row) => row.name === name) ?? { name, gpuMs: 0, coreMs: 0 };
}

/** Log time follows the clock on the wall to the millisecond, except that this is not set meanwhile. */
const closeMs = 500;

/** From the placement of the only attempt to its end, by the clock on the wall. */
async function ranMs(job: string): Promise<number> {
  const found: EventView[] = [];
  for await (const event of yard.events({ job })) found.push(event);
  const at = (kind: string): number => Date.parse(found.find((event) => event.kind === kind)?.at ?? '');
  return at('AttemptEnded') - at('AttemptPlaced');
}

describe('yard usage', () => {
  it('says so where nothing was used, and what the dates of a range look like [X21]', async () => {
    const none = await lab.yard(['usage', '--project', 'ml']);
    expect([none.code, none.stdout]).toEqual([
      0,
      expect.stringMatching(/^no GPU or core time is on record in project ml/),
    ]);
    const told = await lab.yard(['usage', '--from', '2026-02-30']);
    expect(told.code).toBe(2);
    expect(told.stderr).toContain('--from is "2026-02-30"; expected a date such as 2026-11-29');
    expect((await lab.yard(['usage', '--from', '2026-02-02', '--to', '2026-02-01'])).stderr).toContain('is after');
    expect((await lab.yard(['usage', '--by', 'week'])).stderr).toContain('expected project, user or day');
    const future = await lab.yard(['usage', '--from', '9999-01-01']);
    expect([future.code, future.stderr]).toEqual([1, expect.stringContaining('from is 9999-01-01, which is after')]);
    const unknown = await lab.yard(['usage', '--project', 'moon']);
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('there is no project "moon"')]);
  });

  it('charges a job for what it was given, from its placement to its end [X21]', async () => {
    const job = await yard.jobs.submit({
      job: { name: 'train', run: 'sleep 0.5' },
      profile: { resources: { gpus: 2, cpus: 0.5 } },
    });
    await job.wait();
    const { gpuMs, coreMs } = await rowOf('default');
    const expectedMs = await ranMs(job.id);
    expect(expectedMs).toBeGreaterThanOrEqual(500);
    expect(Math.abs(gpuMs / 2 - expectedMs)).toBeLessThan(closeMs);
    expect(coreMs).toBe(gpuMs / 4);
    expect(await rowOf('default')).toEqual({ name: 'default', gpuMs, coreMs });
  });

  it("charges replicas to their service's project, while they run and through a restart of the agent [X21]", async () => {
    writeFileSync(join(lab.folder, 'llm.toml'), service);
    const applied = await lab.yard(['apply', 'llm.toml', '--project', 'ml']);
    expect(applied.code).toBe(0);
    const first = await rowOf('ml');
    expect(first.gpuMs).toBeGreaterThan(0);
    expect(first.coreMs).toBe(first.gpuMs / 2);
    await lab.yard(['down', '--keep']);
    await lab.yard(['up', '--cpus', '4'], { env });
    expect((await rowOf('ml')).gpuMs).toBeGreaterThan(first.gpuMs);
    const replicas = (await yard.jobs.list({ project: 'ml' })).map(({ id }) => id);
    expect(replicas).toHaveLength(2);
    await (await yard.services.get('llm')).remove();
    for (const id of replicas) await (await yard.jobs.get(id)).wait();
    const last = await rowOf('ml');
    const lastedMs = (await Promise.all(replicas.map(ranMs))).reduce((sum, ms) => sum + ms, 0);
    expect(Math.abs(last.gpuMs - lastedMs)).toBeLessThan(closeMs * replicas.length);
    expect(await rowOf('ml')).toEqual(last);
  });

  it('shows a table of hours by project, user or day, with what it comes to, and the same as JSON [X21]', async () => {
    const { stdout } = await lab.yard(['usage']);
    expect(stdout).toMatch(
      /^PROJECT {2}GPU HOURS {2}CORE HOURS\n(ml|default) +\d\.\d\d +\d\.\d\d\n(ml|default) .*\nTOTAL +\d\.\d\d +\d\.\d\d\n\d{4}-\d\d-01 to \d{4}-\d\d-\d\d \(UTC\)\n$/,
    );
    const view = JSON.parse((await lab.yard(['usage', '--json'])).stdout) as Awaited<ReturnType<typeof yard.usage>>;
    expect(view).toEqual(await yard.usage());
    expect(view.total.gpuMs).toBe(view.rows.reduce((sum, { gpuMs }) => sum + gpuMs, 0));
    const { to } = view;
    const { total } = await yard.usage({ from: to, to });
    expect(await rowOf(to, { by: 'day' })).toEqual({ name: to, ...total });
    const [owner] = (await yard.usage({ by: 'user' })).rows;
    expect(owner).toEqual({ name: (await yard.whoAmI()).name, ...view.total });
    expect((await lab.yard(['usage', '--by', 'user', '--from', to])).stdout).toContain(owner?.name);
  });
});
