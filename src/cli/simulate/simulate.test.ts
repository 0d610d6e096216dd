import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { SimulationReport } from '../../simulate/report.ts';
import { simulationTable } from '../views/simulation-table.ts';
import { buildYard, makePlace, type Place } from '../yard.testsuite.ts';

beforeAll(buildYard);

async function inPlace(use: (place: Place) => Promise<void>): Promise<void> {
  const place = makePlace();
  try {
    await use(place);
  } finally {
    place.remove();
  }
}

const cluster = '[[nodes]]\nname = "n%d"\ncount = 2\ncpus = 2\nmemory = "4GiB"\n';
const work = `[[jobs]]
name = "train"
count = 3
runs = "1h"
profile = { resources = { cpus = 2 } }
`;

describe.concurrent('yard simulate', () => {
  it('answers with a table, a document, a picture and a line for each job [B9]', async () => {
    await inPlace(async ({ yard, directory }) => {
      writeFileSync(join(directory, 'plan.toml'), cluster + work);
      const { code, stdout, stderr } = await yard('simulate', 'plan.toml', '--svg', 'out.svg', '--jobs', 'out.jsonl');
      expect([code, stderr]).toEqual([0, `picture in ${directory}/out.svg\neach job in ${directory}/out.jsonl\n`]);
      expect(stdout).toBe(`\
2 nodes, seed 1
3 jobs: all ended after 2h

JOBS   COUNT  WAIT p50  p95  MAX  RUN p50  GPU·h  ENDED
train      3         –   1h   1h       1h      0  3 ok

USED   MEAN    p95   PEAK  OF
cores  75 %  100 %  100 %  4

WAITED FOR  HOURS  WHO, AND WHY FOR MOST OF IT
busy            1  train: needs 2 cores, all taken where it fits

LONGEST WAITS      STARTED
train-3        1h  after 1h
`);
      const lines = readFileSync(join(directory, 'out.jsonl'), 'utf8').trimEnd().split('\n');
      expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
        { id: 'train-1', startedMs: 0, endedMs: 3_600_000, nodes: ['n1'], ended: 'ok' },
        { id: 'train-2', startedMs: 0, endedMs: 3_600_000, nodes: ['n2'], ended: 'ok' },
        { id: 'train-3', startedMs: 3_600_000, endedMs: 7_200_000, nodes: ['n1'], ended: 'ok' },
      ]);
      expect(readFileSync(join(directory, 'out.svg'), 'utf8')).toMatch(/^<svg [\s\S]*<\/svg>\n$/);
      const json = JSON.parse((await yard('simulate', 'plan.toml', '--json')).stdout) as { each: unknown[] };
      expect(json).toMatchObject({ nodes: 2, jobs: 3, makespanMs: 7_200_000 });
      expect(json.each).toHaveLength(3);
    });
  });

  it('plays what was done here once more, on another cluster [B9] [X30]', async () => {
    await inPlace(async ({ yard, directory }) => {
      expect((await yard('simulate', '--history')).stderr).toContain('nothing has run here');
      expect((await yard('run', '--no-workspace', '--', 'sh', '-c', 'sleep 0.3')).code).toBe(0);
      expect((await yard('run', '--no-workspace', '--array', '3', '--', 'sh', '-c', 'exit 4')).code).toBe(4);
      writeFileSync(join(directory, 'large.toml'), cluster);
      const { stdout, stderr } = await yard('simulate', '--history', '--cluster', 'large.toml', '--json');
      expect(stderr).toBe('');
      const report = JSON.parse(stdout) as SimulationReport;
      expect(report).toMatchObject({
        title: 'the history kept here',
        jobs: 2,
        parts: 4,
        ended: 4,
      });
      expect(report.kinds.map(({ ranMs }) => ranMs.max >= 1)).toEqual([true]);
      expect((await yard('simulate', '--history')).stderr).toContain('error: there is no cluster to simulate');
    });
  });

  it('says what is wrong with what was typed, and with a file the line', async () => {
    await inPlace(async ({ yard, directory }) => {
      writeFileSync(join(directory, 'bad.toml'), `${cluster}${work.replace('runs', 'run')}`);
      writeFileSync(join(directory, 'cluster.toml'), cluster);
      const said = async (...args: readonly string[]): Promise<string> => {
        const { code, stderr } = await yard('simulate', ...args);
        return `${code} ${stderr}`;
      };
      expect(await said()).toBe(
        '2 error: there is nothing to simulate\n  yard simulate FILE, or what was done here: yard simulate --history\n',
      );
      expect(await said('bad.toml')).toBe(`\
1 error: unknown key "run" in [jobs]
  bad.toml:9  run = "1h"
              ^^^
  did you mean "runs"?
`);
      expect(await said('cluster.toml')).toMatch(/^2 error: cluster\.toml has no work\n/);
      expect(await said('cluster.toml', '--since', '7d')).toMatch(/^2 error: --since goes with --history\n/);
      expect(await said('nowhere.toml')).toMatch(/^2 error: there is no file nowhere\.toml\n/);
    });
  });
});

describe('the table', () => {
  const report = (): SimulationReport => {
    const waitedMs = { p50: 35_260_000, p95: 180_000_000, max: 900_000_000 };
    const kind = {
      jobs: 1e6,
      parts: 123_456,
      attempts: 123_456,
      waitedMs,
      ranMs: waitedMs,
      gpuHours: 1e6,
      coreHours: 1,
    };
    const ended = { ok: 123_000, 'exit 75': 400, 'node-lost': 50 };
    const name = 'a-name-of-twenty-five-let';
    const used = { mean: 0.763, p95: 0.99, peak: 1, capacity: 8000 };
    const series = { binMs: 1, values: [] };
    const message = 'needs 4 nodes at once, 3 could take it, and this sentence goes on for longer than the line';
    return {
      ...{ title: 'x', start: '2026-12-07T00:00:00.000Z', seed: 1, nodes: 1000, jobs: 1e6, parts: 12e6, ended: 9e5 },
      ...{ makespanMs: 1, endMs: 6e8, utilisation: { gpus: used, cores: used }, notes: ['1 job still running'] },
      kinds: Array.from({ length: 25 }, (_, number) => ({ ...kind, name: `${name}-${number}`, ended, unended: 6 })),
      waiting: [{ reason: 'too-few-nodes', hours: 12_345.678, message, name }],
      longestWaits: [{ id: `${name}-123456/99`, waitedMs: 9e8, startedMs: null }],
      stillWaiting: [{ id: `${name}-123456/99`, parts: 1, message }],
      series: {
        unit: 'GPUs',
        used: series,
        capacity: series,
        waiting: series,
        running: series,
        byName: [],
        byGroup: [],
      },
    };
  };

  it('fits 80 columns, whatever the names and figures', () => {
    const table = simulationTable(report(), 80);
    const wide = table.split('\n').filter((line) => Array.from(line).length > 80);
    expect(wide).toEqual([]);
    expect(table).toContain('and 5 names more (--json has them all)');
    expect(table).toContain('9h48m  2d2h  10d10h');
  });
});
