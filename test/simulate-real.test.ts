import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RunningNode } from '../src/client/api.ts';
import { followEvents } from '../src/client/events.ts';
import type { Fact } from '../src/core/fact.ts';
import { parseSimulationFile } from '../src/simulate/file/simulation-file.ts';
import type { PartRecord } from '../src/simulate/ledger/ledger.ts';
import { simulate } from '../src/simulate/simulate.ts';
import { type EmbeddedClient, type EmbeddedLab, openEmbeddedLab } from './embedded-lab.ts';

const nodes = [
  { name: 'a', cpus: 2, memory: '1GiB' },
  { name: 'b', cpus: 3, memory: '1GiB' },
];

/** The first two fill both nodes for long enough that everything else is queued behind them. */
const work = [
  { name: 'fills-a', seconds: 6, profile: { resources: { cpus: 2 } } },
  { name: 'fills-b', seconds: 3, profile: { resources: { cpus: 3 } } },
  { name: 'low', seconds: 0.2, profile: { resources: { cpus: 1 }, priority: -1 } },
  { name: 'plain', seconds: 0.2, profile: { resources: { cpus: 1 } } },
  { name: 'urgent', seconds: 0.2, profile: { resources: { cpus: 3 }, priority: 5 } },
  { name: 'parts', seconds: 0.2, profile: { resources: { cpus: 1 }, array: { size: 3, maxRunning: 1 } } },
];

let lab: EmbeddedLab;
let client: EmbeddedClient;
const running: RunningNode[] = [];

beforeAll(async () => {
  lab = openEmbeddedLab();
  client = await lab.open();
  for (const { name, cpus } of nodes) {
    const node = await client.nodes.start({ name, cpus, memoryMiB: 1024, gpus: 0 });
    if (node !== null) running.push(node);
  }
});
afterAll(async () => {
  for (const node of running) await node.close();
  await lab.close();
});

it('simulates what nodes then do: the same work starts in the same order on the same nodes [B9] [X30]', async () => {
  const expected = await simulated();
  const jobs = [];
  for (const { name, seconds, profile } of work) {
    jobs.push(await client.jobs.submit({ job: { name, run: `sleep ${seconds}` }, profile }));
  }
  for (const job of jobs) expect((await job.wait()).state).toBe('COMPLETED');
  expect(await placed()).toEqual(expected);
  expect(expected.map(([name]) => name)).toEqual([
    'fills-a',
    'fills-b',
    'urgent',
    ...['plain', 'parts', 'low'],
    ...['parts', 'parts'],
  ]);
});

/** Name, array index and node of each start, in order. */
type Start = readonly [name: string, index: number, node: string];

async function simulated(): Promise<readonly Start[]> {
  const jobs = work.map(({ name, seconds, profile }, position) => {
    return { name, at: `${position}ms`, runs: `${seconds * 1000}ms`, profile };
  });
  const file = await parseSimulationFile(JSON.stringify({ nodes, jobs }), 'plan.json', () => Promise.resolve(''));
  const records: PartRecord[] = [];
  simulate({ title: 'plan', notes: [], ...file, seed: 1 }, { onPart: (record) => records.push(record) });
  const priority = new Map(
    work.map(({ name, profile }) => [name, 'priority' in profile ? (profile.priority ?? 0) : 0]),
  );
  const order = ({ name, startedMs }: PartRecord): number =>
    (startedMs ?? 0) * 100 - (priority.get(name) ?? 0) * 10 + work.findIndex((one) => one.name === name);
  return records
    .sort((one, other) => order(one) - order(other))
    .map(({ name, index, nodes: on }): Start => [name, index ?? 0, on[0] ?? '']);
}

async function placed(): Promise<readonly Start[]> {
  const starts: Start[] = [];
  const names = new Map<string, string>();
  for await (const { fact } of followEvents(client.embedded, {})) {
    const { kind, ...rest } = fact as Fact;
    if (kind === 'JobSubmitted' && 'name' in rest && 'job' in rest) names.set(String(rest.job), String(rest.name));
    if (kind === 'AttemptPlaced' && 'tasks' in rest) {
      starts.push([names.get(rest.job) ?? '', rest.index, rest.tasks[0]?.node ?? '']);
    }
  }
  return starts;
}
