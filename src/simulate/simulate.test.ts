import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { lines, oneNode, planOf, run } from './plan.testsuite.ts';
import { simulate } from './simulate.ts';

const example = (name: string): string =>
  readFileSync(new URL(`../../examples/simulate/${name}`, import.meta.url), 'utf8');

describe('a simulated workload', () => {
  it('starts and ends when it would: queued by priority, then by arrival [B9] [G7]', async () => {
    const ran = await run(`${oneNode}
[[jobs]]
name = "long"
runs = "60s"
profile = { resources = { cpus = 4 } }
[[jobs]]
name = "low"
at = "1s"
runs = "10s"
profile = { resources = { cpus = 4 }, priority = -1 }
[[jobs]]
name = "high"
at = "2s"
runs = "10s"
profile = { resources = { cpus = 4 } }
`);
    expect(lines(ran)).toEqual(['long-1 0–60 on n1: ok', 'high-1 60–70 on n1: ok', 'low-1 70–80 on n1: ok']);
    expect(ran.report).toMatchObject({ makespanMs: 80_000, jobs: 3, ended: 3 });
    expect(ran.report.longestWaits[0]).toEqual({ id: 'low-1', waitedMs: 69_000, startedMs: 70_000 });
  });

  it('waits for stated reasons, counted by how much waited for how long [B10] [I27]', async () => {
    const { report } = await run(`${oneNode}
[[jobs]]
name = "sweep"
runs = "1h"
[jobs.profile]
array = { size = 4, maxRunning = 2 }
[[jobs]]
name = "whole"
runs = "1h"
profile = { resources = { cpus = 4 } }
[[jobs]]
name = "never"
runs = "1h"
profile = { resources = { gpus = 1 } }
`);
    const waited = Object.fromEntries(report.waiting.map(({ reason, hours, message }) => [reason, [hours, message]]));
    expect(waited).toEqual({
      'array-limit': [2, 'runs 2 at once, as many as it may'],
      busy: [2, 'needs 4 cores, only 2 cores free where it fits'],
      'no-fit': [3, 'needs 1 GPU, the largest node has 0 GPUs'],
    });
    expect(report.stillWaiting).toEqual([
      { id: 'never-1', parts: 1, message: 'needs 1 GPU, the largest node has 0 GPUs' },
    ]);
    expect(report.longestWaits[0]).toEqual({ id: 'never-1', waitedMs: 10_800_000, startedMs: null });
    expect(report.utilisation).toEqual({ gpus: null, cores: { mean: 2 / 3, p95: 1, peak: 1, capacity: 4 } });
  });

  it('tries again, times out and ends as its profile says [U2] [S11]', async () => {
    const ran = await run(`${oneNode}
[[jobs]]
name = "flaky"
runs = "10s"
exit = { share = 1, code = 75 }
profile = { retry = { maxAttempts = 3, onExit = [75] } }
[[jobs]]
name = "slow"
runs = "1h"
profile = { timeout = "30s" }
`);
    expect(lines(ran)).toEqual(['slow-1 0–30 on n1: timed-out', 'flaky-1 0–33 on n1: exit 75']);
    expect(ran.report.kinds.map(({ name, attempts }) => [name, attempts])).toEqual([
      ['flaky', 3],
      ['slow', 1],
    ]);
  });

  it('places ranks together or not at all, and ends them together [G4] [C19]', async () => {
    const ran = await run(`[[nodes]]
count = 2
cpus = 4
memory = "16GiB"
[[jobs]]
name = "first"
runs = "10s"
profile = { resources = { cpus = 4 } }
[[jobs]]
name = "pair"
at = "1s"
runs = "5s"
exit = 1
profile = { nodes = 2, resources = { cpus = 3 } }
`);
    expect(lines(ran)).toEqual(['first-1 0–10 on node-1: ok', 'pair-1 10–15 on node-1 node-2: exit 1']);
  });
});

describe('a simulated service', () => {
  it('keeps its replicas up, restarts them with the delays of an agent, and lasts [X5] [X30]', async () => {
    const ran = await run(`until = "10m"
${oneNode}
[[jobs]]
name = "web"
runs = "100s"
profile = { replicas = 2, port = false }
[[jobs]]
name = "steady"
profile = { replicas = 1, port = false }
`);
    expect(lines(ran)).toEqual(['web-1 0–… on n1: goes on', 'web-2 0–… on n1: goes on', 'steady-1 0–… on n1: goes on']);
    expect(ran.report).toMatchObject({ endMs: 600_000, ended: 0 });
    expect(ran.report.utilisation.cores.mean).toBeCloseTo(0.75, 3);
  });

  it('does not keep the simulation from ending once all other work has', async () => {
    const { report } = await run(`${oneNode}
[[jobs]]
name = "web"
profile = { replicas = 1, port = false }
[[jobs]]
name = "job"
runs = "5s"
`);
    expect(report.endMs).toBe(5000);
  });
});

describe('simulated nodes', () => {
  it('are missed when they fall silent, and their work is tried elsewhere [X12] [S11]', async () => {
    const ran = await run(`until = "2h"
[[nodes]]
name = "bad"
cpus = 4
memory = "16GiB"
failures = { every = "1s", repair = "10h" }
[[nodes]]
name = "good"
from = "1h"
cpus = 4
memory = "16GiB"
[[jobs]]
name = "job"
runs = "10m"
profile = { retry = { maxAttempts = 2 } }
`);
    expect(ran.parts).toMatchObject([{ attempts: 2, nodes: ['good'], endedMs: 4_200_000, ended: 'ok' }]);
  });

  it('come when they come, and leave when they are empty', async () => {
    const ran = await run(`[[nodes]]
name = "early"
until = "15s"
cpus = 1
memory = "1GiB"
[[nodes]]
name = "late"
from = "30s"
cpus = 1
memory = "1GiB"
[[jobs]]
name = "job"
count = 3
runs = "10s"
`);
    expect(lines(ran)).toEqual(['job-1 0–10 on early: ok', 'job-2 10–20 on early: ok', 'job-3 30–40 on late: ok']);
    expect(ran.report.utilisation.cores.mean).toBeCloseTo(1, 3);
  });

  it('that fail for ever do not keep the simulation going for ever', async () => {
    const { report } = await run(`[[nodes]]
count = 5
cpus = 1
memory = "1GiB"
failures = { every = "10m", repair = "10m" }
[[jobs]]
name = "never"
runs = "1m"
profile = { resources = { cpus = 2 } }
`);
    expect(report.ended).toBe(0);
    expect(report.endMs).toBeLessThan(86_400_000);
  });

  it('that fail for ever do not do so by the replicas that are placed on them for ever', async () => {
    const { report } = await run(`[[nodes]]
count = 2
cpus = 1
memory = "1GiB"
failures = { every = "1s", repair = "1m" }
[[jobs]]
name = "never"
runs = "1m"
profile = { resources = { cpus = 2 } }
[[jobs]]
name = "web"
at = "30m"
profile = { replicas = 2, port = false }
`);
    expect(report.kinds.find(({ name }) => name === 'never')?.unended).toBe(1);
    expect(report.endMs).toBeLessThan(86_400_000);
  });
});

describe('the examples', () => {
  it('give the same bytes for the same file and seed, and others for another seed [I6] [B9]', async () => {
    const plan = await planOf(example('team.toml'));
    const [one, two] = [simulate(plan), simulate(plan)].map((report) => JSON.stringify(report));
    expect(one).toBe(two);
    expect(JSON.stringify(simulate({ ...plan, seed: 2 }))).not.toBe(one);
  });

  it('of a trace comes as it was written', async () => {
    const cluster = await planOf(example('larger.toml'));
    const trace = await planOf(example('trace.toml'), { 'trace.csv': example('trace.csv') });
    const report = simulate({ ...trace, nodes: cluster.nodes });
    expect(report).toMatchObject({ start: '2026-12-07T08:00:00.000Z', jobs: 8, ended: 8, makespanMs: 23_400_000 });
    expect(report.kinds.find(({ name }) => name === 'embed')?.ended).toEqual({ ok: 2, 'exit 1': 1 });
  });
});
