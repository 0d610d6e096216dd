import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobHandle, RunningNode } from '../src/client/api.ts';
import type { TaskView } from '../src/core/job/view.ts';
import type { PartialSettings } from '../src/core/profile/settings.ts';
import { defaultRestart, type RestartPolicy } from '../src/core/supervision/policy.ts';
import { type Probe, probeDefaults } from '../src/core/supervision/probe.ts';
import { type EmbeddedClient, type EmbeddedLab, openEmbeddedLab } from './embedded-lab.ts';
import { markedPids, until } from './lab.ts';

let lab: EmbeddedLab;
beforeEach(() => {
  lab = openEmbeddedLab();
});
afterEach(() => lab.close());

interface Machine {
  readonly client: EmbeddedClient;
  readonly node: RunningNode;
}

async function startMachine(): Promise<Machine> {
  const client = await lab.open();
  const node = await client.nodes.start({ name: 'n', wait: true });
  if (node === null) throw new Error('the node was taken');
  return { client, node };
}

/** Ends the agent and whatever else its process held; tasks run on. */
async function endMachine({ client, node }: Machine): Promise<void> {
  await node.close();
  await client.close();
}

type Values = Omit<PartialSettings, 'restart'> & { restart?: Partial<RestartPolicy> };

/** Submits one supervised job without a service object (X1), restarted at once unless told otherwise. */
function serve(
  { client }: Machine,
  run: string | readonly string[],
  values: Values = {},
  setup: string | null = null,
): Promise<JobHandle> {
  const restart = { ...defaultRestart, backoff: { initialMs: 0, maxMs: 0 }, ...values.restart };
  return client.jobs.submit({
    spec: { name: 'svc', run, setup, workspace: null, outputs: [], env: {}, args: [] },
    source: {},
    profile: null,
    layers: [{ origin: 'test', values: { kind: 'service', port: false, graceMs: 300, ...values, restart } }],
  });
}

const probe = (values: Partial<Probe>): Probe => ({
  ...probeDefaults,
  ask: { kind: 'tcp' },
  intervalMs: 100,
  timeoutMs: 100,
  ...values,
});

/** The task of a job, once it is as wanted; fails when the job ends first. */
async function taskWhen(job: JobHandle, isWanted: (task: TaskView) => boolean): Promise<TaskView> {
  for await (const view of job.watch()) {
    const [task] = view.tasks;
    if (task !== undefined && isWanted(task)) return task;
    if (view.outcome !== null) throw new Error(`it ended first: ${JSON.stringify(view.outcome)}`);
  }
  throw new Error('the job was not told of to its end');
}

async function printed(job: JobHandle, count: number): Promise<readonly string[]> {
  let lines: readonly string[] = [];
  await until(async () => {
    let text = '';
    for await (const part of job.logs()) text += part;
    lines = text.split('\n').slice(0, -1);
    return lines.length >= count;
  }, `${count} lines of output`);
  return lines;
}

/** Kills the command of a run, whose line begins with its process id. */
async function killNine(job: JobHandle, runs: number): Promise<void> {
  const lines = await printed(job, runs);
  process.kill(Number.parseInt(lines[runs - 1] ?? '', 10), 'SIGKILL');
}

/** A server in the interpreter that runs this test; `hang` accepts and never answers. */
const server = (behaviour: string): readonly string[] => [
  process.execPath,
  '-e',
  `const http = require('node:http'); const born = Date.now(); ${behaviour}`,
];

describe('a supervised command', () => {
  it('that is killed runs again under the same attempt, with count and reason, and setup is not repeated [X5] [X7] [G3]', async () => {
    const machine = await startMachine();
    const run = 'echo "$$ $(grep -c once setups)"; exec sleep 1000';
    const job = await serve(machine, run, {}, 'echo once >> setups');
    await taskWhen(job, (task) => task.ready === true);
    await killNine(job, 1);
    const task = await taskWhen(job, (one) => one.restarts === 1 && one.ready === true);
    expect(task).toMatchObject({ attempt: 1, step: 'run', lastFailure: 'killed by signal 9' });
    for (const line of await printed(job, 2)) expect(line).toMatch(/^\d+ 1$/);
    await job.stop({ graceMs: 100 });
    expect(await job.wait()).toMatchObject({ outcome: { reason: 'stopped' } });
    expect(markedPids(lab.home)).toEqual([]);
  });

  it('that ends well is started again by `always` and left alone by `on-failure` [G3] [X8]', async () => {
    const machine = await startMachine();
    const twice = await serve(machine, 'echo run; exit 0', { restart: { maxRestarts: 2 } });
    expect(await twice.wait()).toMatchObject({
      state: 'FAILED',
      outcome: { reason: 'gave-up', message: expect.stringContaining('restarted 2 times') },
      tasks: [{ restarts: 2, lastFailure: 'exited with code 0' }],
    });
    expect(await printed(twice, 3)).toEqual(['run', 'run', 'run']);
    const once = await serve(machine, 'test -e again || { touch again; exit 3; }', {
      restart: { policy: 'on-failure' },
    });
    expect(await once.wait()).toMatchObject({
      state: 'COMPLETED',
      tasks: [{ restarts: 1, lastFailure: 'exited with code 3' }],
    });
  });

  it('that crashes in a loop backs off, gives up when it is due and goes back to the queue [X1] [X5] [I18]', async () => {
    const machine = await startMachine();
    const job = await serve(machine, 'date +%s%3N; exit 9', {
      restart: { backoff: { initialMs: 60, maxMs: 120 }, giveUp: { kind: 'failures', failures: 4 } },
    });
    expect(await job.wait()).toMatchObject({
      outcome: { reason: 'gave-up', message: 'failed 4 times in a row; the last: exited with code 9' },
      tasks: [{ restarts: 3 }],
    });
    const times = (await printed(job, 4)).map(Number);
    const pauses = times.slice(1).map((atMs, at) => atMs - (times[at] ?? 0));
    for (const [at, leastMs] of [48, 96, 96].entries()) expect(pauses[at]).toBeGreaterThanOrEqual(leastMs);
    expect(pauses).toHaveLength(3);
    const requeued = await serve(machine, 'exit 1', {
      restart: { giveUp: { kind: 'failures', failures: 2 }, onGiveUp: 'requeue' },
    });
    await until(
      async () => (await requeued.view()).tasks[0]?.outcome !== null || (await requeued.view()).waiting !== null,
    );
    expect((await requeued.view()).outcome).toBeNull();
    await requeued.stop({ graceMs: 0 });
    await requeued.wait();
  });

  it('that cannot start fails at once, naming the program, as text and as a vector [C3]', async () => {
    const machine = await startMachine();
    for (const run of ['nosuchserver --port $PORT', ['nosuchserver', '--port']]) {
      const job = await serve(machine, run);
      expect(await job.wait()).toMatchObject({
        outcome: { reason: 'gave-up', message: expect.stringMatching(/^cannot start: nosuchserver: /) },
        tasks: [{ restarts: 0 }],
      });
    }
  });

  it('is ended with its whole tree before it runs again, though a child left its session', async () => {
    const machine = await startMachine();
    const job = await serve(machine, 'echo $$; setsid sleep 1000 & exec sleep 1000');
    await taskWhen(job, (task) => task.ready === true);
    await killNine(job, 1);
    await taskWhen(job, (task) => task.restarts === 1 && task.ready === true);
    await printed(job, 2);
    await until(() => markedPids(lab.home).filter((pid) => commandLine(pid).includes('sleep')).length === 2);
    await job.stop({ graceMs: 0 });
    await job.wait();
    expect(markedPids(lab.home)).toEqual([]);
  });
});

describe('the health of a supervised command', () => {
  it('is that its port accepts connections, unless it says otherwise; its endpoint is told [G2] [X3] [X32]', async () => {
    const machine = await startMachine();
    const job = await serve(machine, server('http.createServer((q, a) => a.end("hi")).listen(process.env.PORT)'), {
      port: true,
    });
    const task = await taskWhen(job, (one) => one.ready === true && one.endpoint !== null);
    expect(await (await fetch(`http://${task.endpoint}/`)).text()).toBe('hi');
    await job.stop({ graceMs: 0 });
    await job.wait();
  });

  it('makes liveness restart one that accepts and never answers [X2] [X5]', async () => {
    const machine = await startMachine();
    const job = await serve(machine, server('http.createServer(() => {}).listen(process.env.PORT)'), {
      port: true,
      startup: probe({ failures: 100 }),
      liveness: probe({ ask: { kind: 'http', path: '/health' }, failures: 2 }),
    });
    const task = await taskWhen(job, (one) => one.restarts === 1);
    expect(task.lastFailure).toBe('liveness failed 2 times: GET /health had no answer within 0.1 s');
    await job.stop({ graceMs: 0 });
    await job.wait();
  });

  it('leaves a slow starter alone: liveness waits for its startup, in every run [C5] [C7]', async () => {
    const machine = await startMachine();
    const slow =
      'console.log(process.pid); setTimeout(() => http.createServer((q, a) => a.end()).listen(process.env.PORT), 600)';
    const job = await serve(machine, server(slow), {
      port: true,
      startup: probe({ ask: { kind: 'http', path: '/' }, failures: 100 }),
      liveness: probe({ ask: { kind: 'http', path: '/' }, failures: 1, timeoutMs: 2000 }),
      restart: { backoff: { initialMs: 300, maxMs: 300 } },
    });
    const { endpoint } = await taskWhen(job, (one) => one.ready === true && one.endpoint !== null);
    await killNine(job, 1);
    const task = await taskWhen(job, (one) => one.ready === true && one.endpoint !== null && one.restarts > 0);
    expect(task).toMatchObject({ restarts: 1, lastFailure: 'killed by signal 9', endpoint });
    await job.stop({ graceMs: 0 });
    await job.wait();
  });

  it('is said to have ended as it did, though its end cut off the answer that liveness waited for [C5]', async () => {
    const machine = await startMachine();
    const leaving = 'http.createServer(() => process.exit(7)).listen(process.env.PORT)';
    const job = await serve(machine, server(leaving), {
      port: true,
      startup: probe({ failures: 100 }),
      liveness: probe({ ask: { kind: 'http', path: '/' }, failures: 1, timeoutMs: 2000 }),
    });
    const task = await taskWhen(job, (one) => one.restarts === 1);
    expect(task.lastFailure).toBe('exited with code 7');
    await job.stop({ graceMs: 0 });
    await job.wait();
  });

  it('names the port on which a command listens instead of its own', async () => {
    const machine = await startMachine();
    const job = await serve(
      machine,
      server('const s = http.createServer().listen(0, () => console.log(s.address().port))'),
      {
        port: true,
        startup: probe({ intervalMs: 400, failures: 4 }),
        restart: { giveUp: { kind: 'failures', failures: 1 } },
      },
    );
    const { outcome } = await job.wait();
    const [port] = await printed(job, 1);
    expect(outcome?.message).toMatch(/startup 4 of 4, port \d+ refused; the process listens on \d+$/);
    expect(outcome?.message.endsWith(` ${port}`)).toBe(true);
  });

  it('is asked by a command in its environment, whose whole tree ends at the timeout [X2]', async () => {
    const machine = await startMachine();
    const job = await serve(machine, 'exec sleep 1000', {
      readiness: probe({ ask: { kind: 'command', command: 'test -e open || { sleep 999 & wait; }' }, timeoutMs: 150 }),
    });
    await taskWhen(job, (one) => one.step === 'run');
    await until(() => commandPids('sleep 999').length > 0, 'the child of a probe');
    await until(() => commandPids('sleep 999').length === 0, 'the end of the probe');
    await (await job.exec({ command: ['touch', 'open'] })).ended;
    await taskWhen(job, (one) => one.ready === true);
    await job.stop({ graceMs: 0 });
    await job.wait();
  });
});

describe('a port that a stranger takes', () => {
  it('is given up for another before the next start, which counts as no failure [G2]', async () => {
    const machine = await startMachine();
    const behaviour = 'console.log(process.pid); http.createServer((q, a) => a.end()).listen(process.env.PORT)';
    const job = await serve(machine, server(behaviour), {
      port: true,
      restart: { backoff: { initialMs: 400, maxMs: 400 } },
    });
    const before = await taskWhen(job, (one) => one.ready === true && one.endpoint !== null);
    await killNine(job, 1);
    await taskWhen(job, (one) => one.restarts === 1);
    const stranger = await listen(Number(before.endpoint?.split(':').at(-1)));
    try {
      const after = await taskWhen(job, (one) => one.ready === true && one.endpoint !== null);
      expect(after.restarts).toBe(1);
      expect(after.endpoint).not.toBe(before.endpoint);
    } finally {
      stranger.close();
    }
    await job.stop({ graceMs: 0 });
    await job.wait();
  });
});

describe('an agent that is replaced', () => {
  it('in the middle of a run keeps its counters and its last verdict [X5] [I16] [C10]', async () => {
    const first = await startMachine();
    const job = await serve(first, 'echo $$; exec sleep 1000');
    await taskWhen(job, (one) => one.ready === true);
    await killNine(job, 1);
    await taskWhen(job, (one) => one.restarts === 1 && one.ready === true);
    const pid = Number((await printed(job, 2))[1]);
    await endMachine(first);

    const second = await startMachine();
    const adopted = await second.client.jobs.get(job.id);
    expect((await adopted.view()).tasks[0]).toMatchObject({ restarts: 1, ready: true });
    process.kill(pid, 'SIGKILL');
    await taskWhen(adopted, (one) => one.restarts === 2 && one.ready === true);
    expect(await printed(adopted, 3)).toHaveLength(3);
    await adopted.stop({ graceMs: 0 });
    await adopted.wait();
  });

  it('in the middle of a delay waits for the rest of it, and gives up when it is due [X5] [B3]', async () => {
    const first = await startMachine();
    const job = await serve(first, 'date +%s%3N; exit 1', {
      restart: { backoff: { initialMs: 700, maxMs: 700 }, giveUp: { kind: 'failures', failures: 3 } },
    });
    await taskWhen(job, (one) => one.restarts === 1);
    await endMachine(first);
    const second = await startMachine();
    const adopted = await second.client.jobs.get(job.id);
    expect(await adopted.wait()).toMatchObject({
      outcome: { reason: 'gave-up', message: 'failed 3 times in a row; the last: exited with code 1' },
      tasks: [{ restarts: 2 }],
    });
    const times = (await printed(adopted, 3)).map(Number);
    expect(times).toHaveLength(3);
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(560);
  });

  it('counts an end that no agent saw once [C10]', async () => {
    const first = await startMachine();
    const job = await serve(first, 'echo $$; exec sleep 1000');
    await taskWhen(job, (one) => one.ready === true);
    const [pid] = await printed(job, 1);
    await endMachine(first);
    process.kill(Number(pid), 'SIGKILL');
    await until(() => markedPids(lab.home).length === 0, 'the end of the command');
    const second = await startMachine();
    const adopted = await second.client.jobs.get(job.id);
    const task = await taskWhen(adopted, (one) => one.restarts > 0 && one.ready === true);
    expect(task).toMatchObject({ restarts: 1, lastFailure: 'killed by signal 9', attempt: 1 });
    expect(await printed(adopted, 2)).toHaveLength(2);
    await adopted.stop({ graceMs: 0 });
    await adopted.wait();
  });
});

function listen(port: number): Promise<Server> {
  return new Promise((done, fail) => {
    const stranger = createServer().once('error', fail);
    stranger.listen(port, () => done(stranger));
  });
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}

function commandPids(text: string): readonly number[] {
  return markedPids(lab.home).filter((pid) => commandLine(pid) === text);
}
