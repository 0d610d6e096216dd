import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JobView } from '../src/core/job/view.ts';
import { type Lab, markedPids, openLab, until } from './lab.ts';

let lab: Lab;
beforeAll(async () => {
  lab = openLab();
  await lab.yard(['up', '--cpus', '4']);
});
afterAll(async () => {
  await lab.yard(['down', '--stop']);
  await lab.close();
});

async function submit(...args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await lab.yard(['submit', '--json', ...args]);
  expect(stderr).toBe('');
  return (JSON.parse(stdout) as { id: string }).id;
}

async function seen(id: string): Promise<JobView> {
  return JSON.parse((await lab.yard(['jobs', id, '--json'])).stdout) as JobView;
}

/** Waits for the first line of so many runs, each of which is a process id; the latest. */
async function pidOfRun(id: string, run: number): Promise<number> {
  let pids: readonly string[] = [];
  await until(async () => {
    pids = (await lab.yard(['logs', id])).stdout.trim().split('\n');
    return pids.length >= run && pids[run - 1] !== '';
  }, `the first line of run ${run}`);
  return Number(pids[run - 1]);
}

describe.sequential('yard down with a service', () => {
  it('stops its replicas though it replaces what is stopped; they come back with the next node [X26] [X28]', async () => {
    writeFileSync(
      join(lab.folder, 'service.toml'),
      `[service]
name = "stays"
run = "exec sleep 1000"

[profile]
port = false
rollout = { minReady = "0s" }
`,
    );
    expect((await lab.yard(['apply', 'service.toml'])).code).toBe(0);
    expect(await lab.yard(['down'])).toMatchObject({ code: 1, stderr: expect.stringContaining('--stop stops it') });
    expect((await lab.yard(['down', '--stop'])).code).toBe(0);
    expect(markedPids(lab.home)).toEqual([]);
    expect((await lab.yard(['services'])).stdout).toMatch(/stays +WAITING +0\/1 .*no node is connected/);
    await lab.yard(['up', '--cpus', '4']);
    await until(async () => /stays +RUNNING +1\/1/.test((await lab.yard(['services'])).stdout), 'its return');
    const drains = lab.start(['down', '--drain']);
    await drains.printed(/stays is a service and does not end by itself\n {2}yard services stop stays/);
    expect((await lab.yard(['services', 'rm', 'stays'])).code).toBe(0);
    expect((await drains.finished).code).toBe(0);
    expect(markedPids(lab.home)).toEqual([]);
    await lab.yard(['up', '--cpus', '4']);
  });
});

describe.sequential('a supervised job without a service object', () => {
  it('shows state, restarts and last failure as text and as JSON, and is no service [X1] [X7]', async () => {
    writeFileSync(
      join(lab.folder, 'job.toml'),
      `[job]
name = "daemon"
run = "echo $$; exec sleep 1000"

[profile]
kind = "service"
port = false
restart = { backoff = { initial = "0s", max = "0s" } }
`,
    );
    const id = await submit('job.toml');
    process.kill(await pidOfRun(id, 1), 'SIGKILL');
    await pidOfRun(id, 2);
    await until(async () => (await seen(id)).tasks[0]?.ready === true, 'its second run to be ready');
    const view = await seen(id);
    expect(view).toMatchObject({ kind: 'service', service: null, replica: null, state: 'RUNNING', attempt: 1 });
    expect(view.tasks).toMatchObject([{ ready: true, restarts: 1, lastFailure: 'killed by signal 9' }]);
    const { stdout } = await lab.yard(['jobs', id]);
    expect(stdout).toMatch(/^ {2}state {6}RUNNING/m);
    expect(stdout).toMatch(/^ {2}restarts {3}1, last: killed by signal 9$/m);
    expect((await lab.yard(['services'])).stdout).toContain('no services');
    await lab.yard(['stop', id, '--grace', '0s']);
    expect((await lab.yard(['wait', id])).code).toBe(125);
    expect(markedPids(lab.home)).toEqual([]);
  });

  it('takes a profile that was applied under its name, and gives up as that says [X1] [X5] [X7]', async () => {
    writeFileSync(
      join(lab.folder, 'keep.toml'),
      `[profile]
name = "keep"
kind = "service"
port = false
restart = { backoff = { initial = "10ms", max = "10ms" }, giveUp = { failures = 3 } }
`,
    );
    expect((await lab.yard(['apply', 'keep.toml'])).stdout).toBe('keep  revision 1\n');
    const id = await submit('--profile', 'keep', '--name', 'loop', '--no-workspace', '--', 'sh', '-c', 'exit 5');
    const { code, stderr } = await lab.yard(['wait', id]);
    expect(code).toBe(125);
    expect(stderr).toContain('failed 3 times in a row; the last: exited with code 5');
    const view = await seen(id);
    expect(view).toMatchObject({ profile: 'keep', state: 'FAILED', outcome: { reason: 'gave-up' } });
    expect(view.tasks).toMatchObject([{ restarts: 2, lastFailure: 'exited with code 5' }]);
    expect((await lab.yard(['jobs', id])).stdout).toMatch(/^ {2}restarts {3}2, last: exited with code 5$/m);
  });
});
