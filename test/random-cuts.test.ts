import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createJobs } from '../src/client/jobs.ts';
import { createNodes } from '../src/client/nodes.ts';
import { createServices } from '../src/client/services.ts';
import { createTokens } from '../src/client/tokens.ts';
import { Server } from '../src/server/server.ts';
import { isFull, markedPids, yardPath } from './lab.ts';
import { type Cut, Wire } from './wire.ts';

/** As the real ones, thirty times as fast. */
const leaseTimes = { heartbeatMs: 150, leaseMs: 1000, graceMs: 1000, afterOutageMs: 3000 };
const names = ['n1', 'n2', 'n3', 'n4'] as const;
const seeds = isFull ? 100 : 1;
const stepsPerSeed = 12;

interface Machine {
  readonly name: string;
  readonly wire: Wire;
  agent: ChildProcess | null;
}

const root = mkdtempSync(join(tmpdir(), 'runyard-cuts-'));
const machines: Machine[] = [];
let server: Server;
let port = 0;

beforeAll(async () => {
  server = await Server.start({ home: `${root}/server`, listen: { host: '127.0.0.1', port: 0 }, leaseTimes });
  port = server.port;
  for (const name of names) {
    const wire = new Wire(port);
    await wire.open();
    const machine: Machine = { name, wire, agent: null };
    machines.push(machine);
    mkdirSync(`${root}/${name}`, { mode: 0o700 });
    const { token } = await createTokens(server.parts.embedded).createJoin();
    writeFileSync(`${root}/${name}.token`, `${token}@${server.fingerprint}\n`, { mode: 0o600 });
    startAgent(machine);
  }
});
afterAll(async () => {
  for (const { wire, agent } of machines) {
    wire.close();
    await killed(agent);
  }
  await server.close();
  for (const pid of markedPids(root)) process.kill(pid, 'SIGKILL');
  rmSync(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
});

/** The agent of a machine, as its own process: it can be killed. */
function startAgent(machine: Machine): void {
  const { name, wire } = machine;
  const url = `https://127.0.0.1:${wire.port}`;
  const out = openSync(`${root}/${name}.out`, 'a');
  const words = [
    'node',
    'start',
    '--name',
    name,
    '--cpus',
    '8',
    '--server',
    url,
    '--token-file',
    `${root}/${name}.token`,
  ];
  const env = { ...process.env, NO_COLOR: '1', RUNYARD_HOME: `${root}/${name}` };
  machine.agent = spawn(process.execPath, [yardPath, ...words], { env, stdio: ['ignore', out, out] });
}

async function killed(agent: ChildProcess | null): Promise<void> {
  if (agent === null || agent.exitCode !== null || agent.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => agent.once('exit', () => resolve()));
  agent.kill('SIGKILL');
  await gone;
}

async function restartServer(downMs: number): Promise<void> {
  await server.close();
  await pause(downMs);
  server = await Server.start({ home: `${root}/server`, listen: { host: '127.0.0.1', port }, leaseTimes });
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const jobs = () => createJobs(server.parts.embedded);

/** Numbers that a seed gives, the same each time. */
function random(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return ((state ^ (state >>> 13)) >>> 0) % below;
  };
}

/** One random thing that goes wrong, or right again. */
async function strike(draw: (below: number) => number): Promise<string> {
  const machine = machines[draw(machines.length)];
  if (machine === undefined) throw new Error('there are no machines');
  const { name, wire, agent } = machine;
  const what = draw(16);
  if (what < 6) {
    const how = (['both', 'from-node', 'to-node'] as const)[draw(3)] as Cut;
    wire.cut(how);
    return `cut ${name} ${how}`;
  }
  if (what < 10) {
    wire.cut('none');
    return `heal ${name}`;
  }
  if (what < 13) {
    await killed(agent);
    return `kill ${name}`;
  }
  if (what < 15) {
    if (isDead(agent)) startAgent(machine);
    return `start ${name}`;
  }
  await restartServer(draw(2500));
  return 'restart the server';
}

const isDead = (agent: ChildProcess | null): boolean =>
  agent === null || agent.exitCode !== null || agent.signalCode !== null;

/** `<job>.<attempt>` of every process that is alive, read from the processes themselves. */
function living(): readonly string[] {
  return markedPids(root).flatMap((pid) => {
    const env = environmentOf(pid);
    const value = (key: string): string => env.find((one) => one.startsWith(`${key}=`))?.slice(key.length + 1) ?? '';
    return env.length === 0 ? [] : [`${value('RUNYARD_JOB')}.${value('RUNYARD_ATTEMPT')}`];
  });
}

/** Nothing of a process that ended between two looks. */
function environmentOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean);
  } catch {
    return [];
  }
}

/** Each job that is alive has one process, of its current attempt; nothing else runs, and nothing else is taken. */
async function expectConverged(): Promise<void> {
  const nodes = await createNodes(server.parts.embedded).list();
  expect(nodes.map(({ state }) => state)).toEqual(nodes.map(() => 'READY'));
  const alive = (await jobs().list({ all: true, limit: 1000 })).filter(({ outcome }) => outcome === null);
  expect(alive.map(({ state }) => state)).toEqual(alive.map(() => 'RUNNING'));
  const wanted = alive.map(({ id, attempt }) => `${id}.${attempt}`).sort();
  expect([...living()].sort()).toEqual(wanted);
  const taken = nodes.flatMap(({ tasks }) => tasks).sort();
  expect(taken).toEqual(alive.map(({ id, attempt }) => `${id}.0.0.${attempt}`).sort());
}

async function submit(name: string, profile: object): Promise<string> {
  const resources = { cpus: 0.1 };
  const job = { name, run: 'exec sleep 1000' };
  return (await jobs().submit({ job, profile: { grace: '1s', resources, ...profile } })).id;
}

describe('nodes that are cut off, healed and killed at random', () => {
  it(
    'come to one copy of each work, whatever happened, and never to two of what must not run twice [X12] [I9] [I12] [I27]',
    async () => {
      const waits: string[] = [];
      for (const round of [0, 1]) {
        await submit(`again-${round}`, { retry: { maxAttempts: 1000 } });
        waits.push(await submit(`waits-${round}`, { onNodeLoss: 'wait' }));
      }
      const profile = { replicas: 3, port: false, grace: '1s', resources: { cpus: 0.1 }, rollout: { minReady: '0s' } };
      await createServices(server.parts.embedded).apply({ service: { name: 'web', run: 'exec sleep 1000' }, profile });
      await vi.waitFor(expectConverged, { timeout: 60_000, interval: 100 });

      for (let seed = 1; seed <= seeds; seed += 1) {
        const draw = random(seed);
        const done: string[] = [];
        try {
          for (let step = 0; step < stepsPerSeed; step += 1) {
            done.push(await strike(draw));
            await pause(draw(700));
            for (const id of waits) expect(living().filter((one) => one.startsWith(`${id}.`)).length).toBe(1);
          }
          for (const machine of machines) {
            machine.wire.cut('none');
            if (isDead(machine.agent)) startAgent(machine);
          }
          await vi.waitFor(expectConverged, { timeout: 60_000, interval: 100 });
        } catch (error) {
          throw new Error(`seed ${seed}: ${done.join(', ')}`, { cause: error });
        }
      }
      for (const id of waits) expect((await (await jobs().get(id)).view()).attempt).toBe(1);
    },
    isFull ? 3_600_000 : 240_000,
  );
});
