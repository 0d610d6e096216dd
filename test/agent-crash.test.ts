import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isFull, type Lab, openLab, type Running, until } from './lab.ts';

let lab: Lab;
beforeEach(() => {
  lab = openLab();
});
afterEach(() => lab.close());

const rounds = isFull ? 100 : 9;
const script = 'sleep 0.3; echo x >> count; echo line; exit 5';

/** A third of the kills hit the first 5 ms after the start, the others any moment of the run. */
function killAfterMs(round: number): number {
  return round % 3 === 0 ? Math.random() * 5 : Math.random() * 450;
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}

/** The moment at which the agent begins with an attempt: its journal appears. */
async function begun(known: ReadonlySet<string>): Promise<void> {
  await until(() => attempts().some((name) => !known.has(name)), 'the start of the attempt');
}

function attempts(): readonly string[] {
  const nodes = join(lab.home, 'nodes');
  return readdirSync(nodes).flatMap((node) => {
    try {
      return readdirSync(join(nodes, node, 'attempts'));
    } catch {
      return [];
    }
  });
}

async function submitJob(round: number): Promise<string> {
  const { stdout, stderr, code } = await lab.yard([
    'submit',
    '--name',
    `crash${round}`,
    '--output',
    'count',
    '--no-workspace',
    '--json',
    '--',
    'sh',
    '-c',
    script,
  ]);
  expect(stderr + code).toBe('0');
  return (JSON.parse(stdout) as { id: string }).id;
}

/** One line in count, exit code 5, the log whole. Asked as a command would: by a client that comes and goes. */
async function ranOnce(id: string): Promise<void> {
  const client = await lab.client();
  try {
    const job = await client.jobs.get(id);
    expect([id, (await job.wait()).outcome?.exitCode]).toEqual([id, 5]);
    const to = join(lab.folder, id);
    await job.land({ to });
    expect([id, readFileSync(join(to, 'count'), 'utf8')]).toEqual([id, 'x\n']);
    let log = '';
    for await (const text of job.logs()) log += text;
    expect([id, log]).toEqual([id, 'line\n']);
  } finally {
    await client.close();
  }
}

function startAgent(): Running {
  return lab.start(['node', 'start', '--name', 'crashy']);
}

describe('a job runs once, whatever dies around it', () => {
  it(`when the agent is killed at random instants and started again, ${rounds} times [B3] [C9] [C10] [I11] [I16]`, async () => {
    let agent = startAgent();
    await agent.printed(/crashy/);
    for (let round = 0; round < rounds; round += 1) {
      const known = new Set(attempts());
      const id = await submitJob(round);
      await begun(known).catch(() => {});
      await pause(killAfterMs(round));
      agent.child.kill('SIGKILL');
      await agent.finished;
      agent = startAgent();
      await agent.printed(/crashy/);
      await ranOnce(id);
    }
    agent.child.kill('SIGTERM');
    await agent.finished;
  }, 600_000);

  it(`when the submitting command that brought the node is killed at random instants, ${rounds} times [B3]`, async () => {
    for (let round = 0; round < rounds; round += 1) {
      const known = new Set(round === 0 ? [] : attempts());
      const run = lab.start([
        'run',
        '--name',
        `both${round}`,
        '--output',
        'count',
        '--no-workspace',
        '--',
        'sh',
        '-c',
        script,
      ]);
      await run.printed(/both\d+-\w{6}/);
      const id = /(both\d+-\w{6})/.exec(run.stderr())?.[1] ?? '';
      await begun(known).catch(() => {});
      await pause(killAfterMs(round));
      run.child.kill('SIGKILL');
      await run.finished;
      const agent = startDefaultAgent();
      await agent.printed(/ready|node/);
      await ranOnce(id);
      agent.child.kill('SIGTERM');
      await agent.finished;
    }
  }, 600_000);

  it('when only the submitting command is killed: the agent goes on [B3]', async () => {
    const agent = startAgent();
    await agent.printed(/crashy/);
    for (let round = 0; round < 3; round += 1) {
      const run = lab.start([
        'run',
        '--name',
        `cli${round}`,
        '--output',
        'count',
        '--no-workspace',
        '--',
        'sh',
        '-c',
        script,
      ]);
      await run.printed(/cli\d+-\w{6}/);
      const id = /(cli\d+-\w{6})/.exec(run.stderr())?.[1] ?? '';
      await pause(killAfterMs(round));
      run.child.kill('SIGKILL');
      await run.finished;
      await ranOnce(id);
    }
    agent.child.kill('SIGTERM');
    await agent.finished;
  });
});

/** An agent under the host's own name, as `yard run` brings one. */
function startDefaultAgent(): Running {
  return lab.start(['node', 'start']);
}
