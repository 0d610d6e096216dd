import { describe, expect, it } from 'vitest';
import { readRecords } from '../agent/records.ts';
import type { Launch } from '../host/processes.ts';
import { Incarnation } from './incarnation.ts';
import { Machine } from './machine.ts';
import { type Program, writeProgram } from './program.ts';
import { createRandom } from './random.ts';
import { startShim } from './shim-model.ts';
import { createTruth, type Truth } from './truth.ts';
import { createVirtualFiles } from './virtual-files.ts';
import { World } from './world.ts';

const directory = '/node/n/attempts/a-1.0.0.1';
const program: Program = {
  lastsMs: 100,
  codes: [7],
  dies: null,
  onTerm: 'die',
  children: [],
  writes: [],
  stuckMs: 0,
  serves: null,
};

function prepare(options: { pids?: number } = {}) {
  const world = new World(createRandom(1), () => new Promise((resolve) => process.nextTick(resolve)));
  const machine = new Machine(world, {
    name: 'm',
    pids: options.pids ?? 100,
    skewMs: 0,
    shimReaps: true,
    hasJournal: true,
  });
  machine.disk.makeFolder(`${directory}/work`, 0o700);
  const truth: Truth = createTruth(() => 0);
  const launch = (more: Partial<Program> = {}, given: Partial<Launch> = {}): void =>
    startShim({
      machine,
      truth,
      stepMs: () => 1,
      stallMs: () => 0,
      dies: () => false,
      launch: {
        directory,
        workdir: `${directory}/work`,
        label: 'run',
        nonce: 'once',
        argv: ['a-program', writeProgram({ ...program, ...more })],
        env: { RUNYARD_MARK: 'n/a-1.0.0.1', RUNYARD_ATTEMPT: '1' },
        mark: 'n/a-1.0.0.1',
        maxProcesses: null,
        memoryMiB: null,
        bell: '/node/n/bell',
        ...given,
      },
    });
  const files = createVirtualFiles({
    incarnation: new Incarnation(world, 'reader'),
    diskOf: () => machine.disk,
    latencyMs: () => 0,
    noticeMs: () => 1,
  });
  const records = async () => {
    const start = new TextEncoder().encode(`{"nonce":"once","mark":"m","bootId":"${machine.bootId()}","end":true}\n`);
    const writing = files.write(`${directory}/run.start.json`, start);
    await world.run(1);
    await writing;
    const reading = readRecords({ files, directory, label: 'run' });
    await world.run(1);
    return reading;
  };
  return { world, machine, truth, launch, records };
}

describe('the model of the shim', () => {
  it('leaves records that the agent reads: claim, run, exit, and one line on the bell', async () => {
    const { world, machine, truth, launch, records } = prepare();
    launch();
    await world.run(200);
    const { claim, run, exit } = await records();
    expect(claim).toMatchObject({ kind: 'shim' });
    expect(run).not.toBeNull();
    expect(exit).toMatchObject({ kind: 'exited', exitCode: 7 });
    expect(new TextDecoder().decode(machine.disk.read('/node/n/bell') ?? undefined)).toBe(`${directory}\n`);
    expect(truth.processes).toMatchObject([{ attempt: 'a-1.0.0.1', label: 'run', exit: { code: 7, signal: null } }]);
    expect(machine.table.processes()).toEqual([]);
  });

  it('starts nothing when the claim is taken', async () => {
    const { world, machine, truth, launch } = prepare();
    machine.disk.open(`${directory}/run.claim.once`, { exclusive: true });
    launch();
    await world.run(200);
    expect(truth.processes).toEqual([]);
    expect(machine.table.processes()).toEqual([]);
  });

  it('leaves no exit record when it is killed, and its command runs on', async () => {
    const { world, machine, truth, launch, records } = prepare();
    launch();
    await world.run(50);
    const shim = machine.table.processes().find(({ role }) => role === 'shim');
    if (shim === undefined) throw new Error('there is no shim');
    machine.table.signal(shim, 'SIGKILL');
    const { run, exit } = await records();
    expect([run === null, exit]).toEqual([false, null]);
    await world.run(100);
    expect(truth.processes).toMatchObject([{ exit: { code: 7, signal: null } }]);
  });

  it('records a fault when there is no directory to work in', async () => {
    const { world, machine, launch, records } = prepare();
    machine.disk.remove(`${directory}/work`);
    launch();
    await world.run(50);
    expect((await records()).exit).toMatchObject({ kind: 'fault' });
  });

  it('says that a tree is gone only when it is', async () => {
    const { world, launch, records } = prepare();
    launch({ children: [{ lastsMs: 5000, leaves: true, scrubbed: true, ignoresTerm: true }] });
    await world.run(200);
    expect(await records()).toMatchObject({ exit: { kind: 'exited', alone: false } });
  });
});

describe('the processes of a virtual machine', () => {
  it('get the pids of those that are gone, but never within the same tick', async () => {
    const { world, machine } = prepare({ pids: 2 });
    const start = () => machine.table.start({ role: 'bystander', parent: null, leads: true, mark: null, logsIn: null });
    const first = start();
    machine.table.end(first, null);
    const second = start();
    expect(second.pid).not.toBe(first.pid);
    machine.table.end(second, null);
    await world.run(20);
    const third = start();
    expect(third.pid).toBe(first.pid);
    expect(third.startTicks).toBeGreaterThan(first.startTicks);
  });

  it('end by SIGKILL only when nothing holds them up any more, and then at once', async () => {
    const { world, machine } = prepare();
    const start = (stuckMs: number) => {
      const one = machine.table.start({ role: 'bystander', parent: null, leads: true, mark: null, logsIn: null });
      one.unkillableUntilMs = world.nowMs + stuckMs;
      return one;
    };
    const [held, released, spared] = [start(1000), start(1000), start(1000)];
    for (const one of [held, released]) machine.table.signal(one, 'SIGKILL');
    for (const one of [released, spared]) machine.table.release(one);
    expect([held, released, spared].map(({ alive }) => alive)).toEqual([true, false, true]);
    await world.run(1000);
    expect([held, spared].map(({ alive }) => alive)).toEqual([false, true]);
  });

  it('end with the machine, and the next boot has another id', () => {
    const { machine } = prepare();
    machine.table.start({ role: 'bystander', parent: null, leads: true, mark: null, logsIn: null });
    const before = machine.bootId();
    expect(machine.goDown()).toHaveLength(1);
    machine.comeUp();
    expect(machine.table.processes()).toEqual([]);
    expect(machine.bootId()).not.toBe(before);
  });
});
