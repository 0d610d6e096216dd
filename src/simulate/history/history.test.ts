import { describe, expect, it } from 'vitest';
import type { Fact } from '../../core/fact.ts';
import type { JobView } from '../../core/job/view.ts';
import { viewJob } from '../../core/job/view.ts';
import type { NodeView } from '../../core/node/view.ts';
import { exited, gpus, Scenario } from '../../core/scenario.testsuite.ts';
import { simulate } from '../simulate.ts';
import { notePartTime, type PartTimes, pastWork } from './past-work.ts';
import { presentCluster } from './present-cluster.ts';

const startMs = Date.UTC(2026, 0, 1);
const none: PartTimes = new Map();

function viewed(at: Scenario, id: string): JobView {
  return viewJob(at.state, at.job(id), at.nowMs);
}

describe('past work', () => {
  it('comes when it came and takes as long as it took, whatever it went through [B9]', () => {
    const at = new Scenario();
    at.join('n1');
    const long = at.submit({ resources: { cpus: 4 }, retry: { maxAttempts: 3, onExit: [7] } });
    at.pass(60_000);
    const failing = at.submit({ resources: { cpus: 4 }, priority: 3 });
    at.report(at.key(long), exited(0));
    at.pass(5000);
    at.report(at.key(failing), exited(3));
    const {
      jobs,
      startMs: from,
      notes,
    } = pastWork(
      [failing, long].map((id) => viewed(at, id)),
      none,
      startMs + 1e6,
    );
    expect([from, notes]).toEqual([startMs, []]);
    expect(jobs).toMatchObject([
      { atMs: 0, runsMs: [60_000], exitCode: 0, layers: [{ origin: long }] },
      { atMs: 60_000, runsMs: [5000], exitCode: 3, layers: [{ values: { priority: 3, resources: { cpus: 4 } } }] },
    ]);
    expect(jobs.map(({ layers }) => 'retry' in (layers[0]?.values ?? {}))).toEqual([false, false]);
  });

  it('says what it takes for granted of what has not ended, and leaves out what nobody knows', () => {
    const at = new Scenario();
    at.join('n1', { cpus: 1 });
    const running = at.submit({}, { name: 'web' });
    at.pass(30_000);
    const waiting = at.submit({}, { name: 'web' });
    const unknown = at.submit({}, { name: 'new' });
    const past = pastWork(
      [running, waiting, unknown].map((id) => viewed(at, id)),
      none,
      startMs + 40_000,
    );
    expect(past.jobs).toMatchObject([{ runsMs: [40_000] }, { runsMs: [40_000] }]);
    expect(past.notes).toEqual([
      '1 job still running: taken to end now',
      '1 job never ran: taken to run as long as others of the name',
      '1 job left out: nothing of the name ever ran',
    ]);
    expect(pastWork([], none, startMs)).toEqual({ startMs: null, jobs: [], notes: [] });
  });

  it('knows from the log how long each part of an array ran', () => {
    const at = new Scenario();
    at.join('n1', { cpus: 1 });
    const id = at.submit({ array: { size: 2, maxRunning: null } });
    at.pass(1000);
    at.report(at.key(id, 0), exited(0));
    at.pass(9000);
    at.report(at.key(id, 1), exited(0));
    const times = new Map<string, { fromMs: number; toMs: number | null }>();
    for (const { fact, nowMs } of at.facts) notePartTime(times, fact as Fact, nowMs);
    expect(pastWork([viewed(at, id)], times, startMs + 10_000).jobs[0]?.runsMs).toEqual([1000, 9000]);
  });
});

describe('the cluster that is there', () => {
  const node = (id: string, more: Partial<NodeView> = {}): NodeView => ({
    ...{ id, state: 'READY', reason: null, cpus: 8, memoryMiB: 1024, labels: {}, tasks: [], gpus: gpus(id, 2) },
    ...{ free: { cpus: 8, memoryMiB: 1024, gpus: 2 }, advertise: '', platform: '', version: '' },
    ...{ leased: false, drainDeadlineAt: null, ...more },
  });

  it('has those that offer the same in one group, under their own names, and none that is away', () => {
    const groups = presentCluster([
      node('b'),
      node('a'),
      node('c', { cpus: 4 }),
      node('gone', { state: 'DOWN' }),
      node('busy', { state: 'DRAINING' }),
    ]);
    expect(groups).toMatchObject([
      { name: 'a and 1 like it', names: ['a', 'b'], count: 2, cpus: 8, gpus: 2, gpuType: 'NVIDIA H100 80GB HBM3' },
      { name: 'c', names: ['c'], count: 1, cpus: 4 },
    ]);
  });

  it('is simulated under the names that its nodes have', () => {
    const job = { name: 'job', atMs: 0, layers: [], runsMs: [1000], exitCode: 0 };
    const nodes: string[] = [];
    simulate(
      {
        ...{ title: 'x', startMs: null, untilMs: null, seed: 1, work: [], notes: [] },
        nodes: presentCluster([node('a'), node('b', { cpus: 1 })]),
        trace: [job, job],
      },
      { onPart: (part) => nodes.push(...part.nodes) },
    );
    expect(nodes).toEqual(['a', 'a']);
  });
});
