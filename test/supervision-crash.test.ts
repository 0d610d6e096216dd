import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobView } from '../src/core/job/view.ts';
import { isFull, type Lab, openLab, type Running, until } from './lab.ts';

let lab: Lab;
beforeEach(() => {
  lab = openLab();
});
afterEach(() => lab.close());

const rounds = isFull ? 100 : 6;

const file = `
[job]
name = "svc"
run = "echo $$; exec sleep 1000"

[profile]
kind = "service"
port = false
restart = { backoff = { initial = "0s", max = "0s" } }
`;

async function startAgent(): Promise<Running> {
  const agent = lab.start(['node', 'start', '--name', 'crashy']);
  await agent.printed(/crashy/);
  return agent;
}

async function view(id: string): Promise<JobView> {
  return JSON.parse((await lab.yard(['jobs', id, '--json'])).stdout) as JobView;
}

async function lines(id: string): Promise<readonly string[]> {
  return (await lab.yard(['logs', id])).stdout.split('\n').slice(0, -1);
}

describe('restarts are counted once', () => {
  it(`when the agent is killed around the end of the command, ${rounds} times [X5] [I11] [B3]`, async () => {
    let agent = await startAgent();
    writeFileSync(join(lab.folder, 'job.toml'), file);
    const submitted = await lab.yard(['submit', 'job.toml', '--json']);
    expect(submitted.stderr).toBe('');
    const { id } = JSON.parse(submitted.stdout) as { id: string };
    for (let round = 1; round <= rounds; round += 1) {
      await until(async () => (await lines(id)).length === round, `the start of run ${round}`);
      const pid = Number((await lines(id)).at(-1));
      const whileAlive = round % 2 === 0;
      if (whileAlive) process.kill(pid, 'SIGKILL');
      await new Promise((done) => setTimeout(done, Math.random() * 25));
      agent.child.kill('SIGKILL');
      await agent.finished;
      if (!whileAlive) process.kill(pid, 'SIGKILL');
      agent = await startAgent();
    }
    await until(async () => (await view(id)).tasks[0]?.restarts === rounds, 'the last restart');
    expect(await lines(id)).toHaveLength(rounds + 1);
    expect((await view(id)).tasks[0]).toMatchObject({ attempt: 1, lastFailure: 'killed by signal 9' });
    await lab.yard(['stop', id, '--grace', '0s']);
    expect((await lab.yard(['wait', id])).code).not.toBe(0);
    agent.child.kill('SIGTERM');
    await agent.finished;
  }, 600_000);
});
