import { describe, expect, it } from 'vitest';
import { AccessScenario } from '../access/access-scenario.testsuite.ts';
import { step } from '../engine.ts';
import { fromRecords, toRecords } from '../records.ts';
import { exited, gpus, Scenario } from '../scenario.testsuite.ts';
import { applying } from '../service/service-scenario.testsuite.ts';
import type { State } from '../state.ts';
import { add, usageEntries } from './usage.ts';

const started = { kind: 'JobStarted', port: null } as const;
const hourMs = 3_600_000;

/** A node of four GPUs and sixteen cores, and time that passes in seconds. */
function scene(): Scenario {
  const at = new Scenario();
  at.join('n1', { cpus: 16, gpus: gpus('n1', 4) });
  return at;
}

/** What all of it comes to, in seconds of GPUs and cores, by project and owner. */
function used(
  state: State,
  nowMs: number,
): Readonly<Record<string, readonly [gpuSeconds: number, coreSeconds: number]>> {
  const sums = new Map<string, { gpuMs: number; coreMs: number }>();
  for (const entry of usageEntries(state, nowMs)) {
    const name = `${entry.project} ${entry.owner}`;
    const sum = sums.get(name) ?? { gpuMs: 0, coreMs: 0 };
    add(sum, entry);
    sums.set(name, sum);
  }
  return Object.fromEntries([...sums].map(([name, { gpuMs, coreMs }]) => [name, [gpuMs / 1000, coreMs / 1000]]));
}

const usedNow = (at: Scenario) => used(at.state, at.nowMs);

describe('GPU and core time', () => {
  it('is charged from the placement of an attempt until its end, to project and owner of the job [X21]', () => {
    const at = scene();
    at.do({ kind: 'CreateProject', project: 'ml', quota: {}, by: 'root' });
    const mine = at.submit({ resources: { gpus: 2, cpus: 4 } });
    const other = at.submit({ resources: { cpus: 1 } }, {}, { project: 'ml', owner: 'eve' });
    at.pass(10_000);
    expect(usedNow(at)).toEqual({ 'default ada': [20, 40], 'ml eve': [0, 10] });
    at.report(at.key(mine), started, exited(0));
    at.pass(5_000);
    at.report(at.key(other), started, exited(1));
    at.pass(hourMs);
    expect(usedNow(at)).toEqual({ 'default ada': [20, 40], 'ml eve': [0, 15] });
    expect(at.state.jobs.size).toBe(0);
  });

  it('is not charged while a job waits, before its placement and between two attempts [X21]', () => {
    const at = new Scenario();
    const id = at.submit({ resources: { gpus: 1 }, retry: { maxAttempts: 2, onExit: [75] } });
    at.pass(60_000);
    at.join('n1', { gpus: gpus('n1', 1) });
    at.pass(3_000);
    at.report(at.key(id), started, exited(75));
    at.do({ kind: 'DrainNode', node: 'n1', reason: 'work on it', by: 'ada', deadlineMs: null });
    at.pass(60_000);
    at.do({ kind: 'ResumeNode', node: 'n1', by: 'ada' });
    expect(at.key(id).attempt).toBe(2);
    at.pass(4_000);
    at.report(at.key(id), started, exited(0));
    expect(usedNow(at)).toEqual({ 'default ada': [7, 7] });
  });

  it('counts every element of an array for as long as it ran [X21]', () => {
    const at = scene();
    const id = at.submit({ array: { size: 3, maxRunning: 2 }, resources: { gpus: 1 } });
    at.pass(2_000);
    at.report(at.key(id, 0), started, exited(0));
    at.pass(2_000);
    at.report(at.key(id, 1), started, exited(0));
    at.report(at.key(id, 2), started, exited(1));
    expect(usedNow(at)).toEqual({ 'default ada': [2 + 4 + 2, 2 + 4 + 2] });
  });

  it('counts all ranks until the last of them has ended [X21]', () => {
    const at = scene();
    at.join('n2', { gpus: gpus('n2', 4) });
    const id = at.submit({ nodes: 2, resources: { gpus: 2 } });
    for (const rank of [0, 1]) {
      at.report(at.key(id, 0, rank), { kind: 'TaskPrepared', address: '10.0.0.1', port: 4000 + rank });
    }
    const last = at.key(id, 0, 1);
    at.pass(1_000);
    at.report(at.key(id, 0, 0), started, exited(0));
    at.pass(1_000);
    at.report(last, started, exited(0));
    expect(usedNow(at)).toEqual({ 'default ada': [8, 4] });
  });

  it("counts replicas of a service as its project's, through a rollout and a scaling down [X21]", () => {
    const at = new AccessScenario(['n1', 8]);
    at.user('ada', { ml: 'member' });
    const service = { ...applying({ replicas: 2, resources: { gpus: 1, cpus: 2 } }), project: 'ml', owner: 'ada' };
    at.do(service);
    at.ready(...at.ids());
    at.pass(10_000);
    expect(usedNow(at)).toEqual({ 'ml ada': [20, 40] });
    at.scale(1);
    at.drain();
    at.pass(10_000);
    expect(usedNow(at)).toEqual({ 'ml ada': [30, 60] });
    at.say('StopService');
    at.drain();
    at.pass(10_000);
    expect(usedNow(at)).toEqual({ 'ml ada': [30, 60] });
  });

  it('adds shares of cores up as decimals do [X21]', () => {
    const at = scene();
    for (let round = 0; round < 10; round += 1) {
      const id = at.submit({ resources: { cpus: 0.1 } });
      at.pass(1);
      at.report(at.key(id), started, exited(0));
    }
    expect(usedNow(at)).toEqual({ 'default ada': [0, 0.001] });
  });
});

describe('what processes hold that an attempt has left behind', () => {
  it('is charged to nobody once the attempt was lost with its node, and once only when that is back [X21]', () => {
    const at = new Scenario();
    at.join('n1', { gpus: gpus('n1', 1) }, { leased: true });
    const id = at.submit({ resources: { gpus: 1 } });
    const key = at.key(id);
    at.silence(200_000);
    const lost = at.facts.find(({ fact }) => fact.kind === 'NodeLost');
    const seconds = (lost?.nowMs ?? Number.NaN) / 1000;
    expect(seconds).toBeLessThan(200);
    expect(at.state.nodes.get('n1')?.allocations.size).toBe(1);
    expect(usedNow(at)).toEqual({ 'default ada': [seconds, seconds] });
    at.step(at.reportOf('n1', [], [key]));
    expect(at.state.nodes.get('n1')?.allocations.size).toBe(0);
    expect(usedNow(at)).toEqual({ 'default ada': [seconds, seconds] });
  });

  it('is charged to nobody once they could not be killed, and the next attempt is charged again [X21]', () => {
    const at = scene();
    at.join('n2', { gpus: gpus('n2', 1) });
    const id = at.submit({ resources: { gpus: 1 }, retry: { maxAttempts: 2, onExit: [] } });
    at.pass(5_000);
    at.report(at.key(id), { kind: 'NodeFault', message: 'cannot be killed', held: true });
    at.pass(60_000);
    const again = at.key(id);
    expect(again.attempt).toBe(2);
    const seconds = 5 + (at.nowMs - placedAtMs(at, 2)) / 1000;
    at.report(again, started, exited(0));
    at.pass(60_000);
    expect(usedNow(at)).toEqual({ 'default ada': [seconds, seconds] });
  });

  it('is charged until then while the job waits for its lost node, and until the node is removed [X21]', () => {
    const at = new Scenario();
    at.joinLeased('n1');
    at.submit({ onNodeLoss: 'wait' });
    at.silence(hourMs);
    expect(usedNow(at)).toEqual({ 'default ada': [0, 3600] });
    at.do({ kind: 'RemoveNode', node: 'n1', by: 'root' });
    expect(at.state.nodes.size).toBe(0);
    at.pass(hourMs);
    expect(usedNow(at)).toEqual({ 'default ada': [0, 3600] });
  });
});

describe('a sum of GPU and core time', () => {
  it('takes no harm when agent or host start anew [X21]', () => {
    const at = scene();
    const id = at.submit({ resources: { gpus: 1 }, retry: { maxAttempts: 2, onExit: [] } });
    at.report(at.key(id), started);
    at.pass(5_000);
    at.join('n1', { cpus: 16, gpus: gpus('n1', 4) }, { inventory: [at.key(id)] });
    at.pass(5_000);
    expect(usedNow(at)).toEqual({ 'default ada': [10, 10] });
    at.join('n1', { cpus: 16, gpus: gpus('n1', 4) }, { bootId: 'boot-2' });
    expect(at.key(id).attempt).toBe(2);
    at.pass(5_000);
    at.report(at.key(id), started, exited(0));
    expect(usedNow(at)).toEqual({ 'default ada': [15, 15] });
  });

  it('is the same from the facts alone, and from a snapshot in the middle of it [X21] [X28] [I5]', () => {
    const at = scene();
    const ended = at.submit({ resources: { gpus: 1 } });
    const runs = at.submit({ resources: { gpus: 2 } });
    at.pass(7_000);
    at.report(at.key(ended), started, exited(0));
    const restored = fromRecords(toRecords(at.state));
    const report = at.reportOf('n1', [
      { ...at.key(runs), ...started },
      { ...at.key(runs), ...exited(0) },
    ]);
    at.nowMs += 3_000;
    step(restored, [report], at.context(restored));
    at.step(report);
    at.pass(9_000);
    expect(usedNow(at)).toEqual({ 'default ada': [27, 17] });
    for (const state of [restored, at.replayed()]) expect(state.usage).toEqual(at.state.usage);
  });
});

describe('a day of GPU and core time', () => {
  it('ends at midnight, UTC, whatever runs [X21]', () => {
    const at = scene();
    at.nowMs = 24 * hourMs - 10_000;
    const id = at.submit({ resources: { gpus: 2 } });
    at.pass(24 * hourMs + 15_000);
    const days = () => [...usageEntries(at.state, at.nowMs)].map(({ day, gpuMs, coreMs }) => [day, gpuMs, coreMs]);
    const expected = [
      [0, 20_000, 10_000],
      [1, 2 * 24 * hourMs, 24 * hourMs],
      [2, 10_000, 5_000],
    ];
    expect(days()).toEqual(expected);
    at.report(at.key(id), started, exited(0));
    expect(days()).toEqual(expected);
  });

  it('is kept for 400 days, of what runs for longer too [X21]', () => {
    const at = scene();
    const old = at.submit();
    const long = at.submit();
    at.pass(hourMs);
    at.report(at.key(old), started, exited(0));
    at.pass(24 * hourMs);
    expect([...at.state.usage.keys()]).toEqual([0]);
    at.pass(400 * 24 * hourMs);
    at.report(at.key(long), started, exited(0));
    const days = [...at.state.usage.keys()];
    expect([days.length, days[0], days.at(-1)]).toEqual([401, 1, 401]);
  });
});

/** Log time at which that attempt was placed. */
function placedAtMs(at: Scenario, attempt: number): number {
  const placed = at.facts.find(({ fact }) => fact.kind === 'AttemptPlaced' && fact.attempt === attempt);
  return placed?.nowMs ?? Number.NaN;
}
