import { describe, expect, it } from 'vitest';
import {
  freshHealth,
  type Health,
  type Probe,
  type ProbeKind,
  type Probes,
  probeDefaults,
} from '../../core/supervision/probe.ts';
import { sleep } from '../../host/clock.ts';
import type { Answer } from './ask-probe.ts';
import { runProbes } from './probe-runner.ts';
import { createVirtualTime, type VirtualTime } from './virtual-time.testsuite.ts';

const probe = (values: Partial<Probe> = {}): Probe => ({ ...probeDefaults, ask: { kind: 'tcp' }, ...values });

/** A run with probes over virtual time; `answers` says what a question of a kind is answered at a time. */
function startRun(
  probes: Partial<Probes>,
  answers: (kind: ProbeKind, time: VirtualTime) => Answer | Promise<Answer>,
  options: { startedMs?: number; health?: Health } = {},
) {
  const time = createVirtualTime();
  const all: Probes = { startup: null, liveness: null, readiness: null, ...probes };
  const asked: [ProbeKind, number][] = [];
  let health = options.health ?? freshHealth(1, all);
  const runner = runProbes({
    host: time,
    probes: all,
    health,
    startedMs: options.startedMs ?? 0,
    ask: async (kind) => {
      asked.push([kind, time.clock.bootMs()]);
      return answers(kind, time);
    },
    onHealth: (next) => {
      health = next;
    },
    onFault: (error) => {
      throw error;
    },
  });
  const times = (kind: ProbeKind): readonly number[] => asked.flatMap(([one, atMs]) => (one === kind ? [atMs] : []));
  return { time, runner, times, health: () => health };
}

const yes: Answer = { ok: true, detail: 'open' };
const no: Answer = { ok: false, detail: 'port 1 refused' };

describe('the probes of a run', () => {
  it('are asked at their interval, from the initial delay after the start of the process [C7]', async () => {
    const run = startRun({ liveness: probe({ initialDelayMs: 10_000, intervalMs: 1000 }) }, () => yes);
    await run.time.pass(12_500);
    expect(run.times('liveness')).toEqual([10_000, 11_000, 12_000]);
  });

  it('wait for the startup probe of this run: liveness is not asked before it has succeeded [C5]', async () => {
    const run = startRun(
      {
        startup: probe({ intervalMs: 1000, failures: 60 }),
        liveness: probe({ intervalMs: 1000, initialDelayMs: 500 }),
      },
      (kind, time) => (kind === 'startup' && time.clock.bootMs() < 20_000 ? no : yes),
    );
    await run.time.pass(19_999);
    expect(run.times('liveness')).toEqual([]);
    await run.time.pass(2001);
    expect(run.times('liveness')).toEqual([20_500, 21_500]);
    expect(run.health()).toMatchObject({ started: true, dead: null });
  });

  it('end with the run that failed to start, naming count and cause', async () => {
    const run = startRun({ startup: probe({ intervalMs: 1000, failures: 3 }) }, () => no);
    await run.time.pass(10_000);
    expect(run.times('startup')).toEqual([0, 1000, 2000]);
    expect(run.health().dead).toBe('startup 3 of 3, port 1 refused');
  });

  it('are one in flight each: a slow answer holds up the next question of its kind only', async () => {
    const run = startRun(
      { liveness: probe({ intervalMs: 1000, timeoutMs: 5000 }), readiness: probe({ intervalMs: 1000 }) },
      async (kind, time) => {
        if (kind === 'liveness') await sleep(time.timers, 2500);
        return yes;
      },
    );
    await run.time.pass(6000);
    expect(run.times('liveness')).toEqual([0, 2500, 5000]);
    expect(run.times('readiness')).toHaveLength(7);
  });

  it('give answers that are dropped once the run is over', async () => {
    const run = startRun({ liveness: probe({ failures: 1 }) }, async (_, time) => {
      await sleep(time.timers, 1000);
      return no;
    });
    await run.time.pass(500);
    run.runner.close();
    await run.time.pass(60_000);
    expect(run.health().dead).toBeNull();
    expect(run.times('liveness')).toEqual([0]);
  });

  it('count nothing that was asked while the agent stood still for more than two intervals', async () => {
    const run = startRun({ liveness: probe({ intervalMs: 1000, failures: 1 }) }, (_, time) =>
      time.clock.bootMs() > 60_000 && time.clock.bootMs() < 62_000 ? no : yes,
    );
    await run.time.pass(500);
    await run.time.stall(60_500);
    expect(run.times('liveness').at(-1)).toBe(61_000);
    expect(run.health().dead).toBeNull();
    await run.time.pass(5000);
    expect(run.health().dead).toBeNull();
  });

  it('are asked at once when the port opens, if they ask the port and the delay is over', async () => {
    const run = startRun(
      {
        startup: null,
        readiness: probe({ intervalMs: 10_000, initialDelayMs: 100 }),
        liveness: probe({ intervalMs: 10_000 }),
      },
      (_, time) => (time.clock.bootMs() < 300 ? no : yes),
    );
    await run.time.pass(310);
    expect(run.health().ready).toBe(false);
    run.runner.portOpened();
    await run.time.pass(1);
    expect(run.health().ready).toBe(true);
    expect(run.times('readiness')).toEqual([100, 310]);
    expect(run.times('liveness')).toEqual([0]);
  });

  it('keep the verdict of the agent before until enough fresh answers say otherwise', async () => {
    const probes: Probes = { startup: probe(), liveness: null, readiness: probe({ intervalMs: 1000, failures: 3 }) };
    const known: Health = { ...freshHealth(4, probes), started: true, ready: true };
    const run = startRun(probes, () => no, { health: known, startedMs: -50_000 });
    await run.time.pass(1500);
    expect(run.times('startup')).toEqual([]);
    expect(run.health().ready).toBe(true);
    await run.time.pass(1000);
    expect(run.health()).toMatchObject({ run: 4, ready: false, reason: 'not ready: port 1 refused' });
  });
});
