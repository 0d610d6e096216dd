import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Lab, markedPids, openLab, type Running, until } from './lab.ts';
import { isServed } from './served-lab.ts';

let lab: Lab;
beforeEach(() => {
  lab = openLab();
});
afterEach(() => lab.close());

/** A job whose descendants leave its group, and that says a last word when it is asked to end. */
const stubborn = `[job]
name = "tree"
run = """
echo partial > partial
sh -c 'trap "echo bye; exit 0" TERM; echo child-ready; while :; do sleep 0.05; done' &
setsid sh -c 'echo own-session; exec sleep 300' &
(setsid sh -c '(trap "" TERM; exec sleep 301) &') &
echo ready
wait
"""
outputs = ["partial", "never"]

[profile]
grace = "1s"
`;

function begin(options: { detached?: boolean } = {}): Running {
  const folder = join(lab.folder, 'tree');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'job.toml'), stubborn);
  return lab.start(['run'], { cwd: folder, ...options });
}

async function running(run: Running): Promise<void> {
  await run.printed(/child-ready/);
  await run.printed(/own-session/);
  await until(() => markedPids(lab.home).length >= 4, 'the tree of the job');
}

async function nothingLeft(): Promise<void> {
  expect(markedPids(lab.home)).toEqual([]);
  const { stdout } = await lab.yard(['jobs', 'tree', '--json']);
  const view = JSON.parse(stdout);
  expect(view).toMatchObject({ state: 'FAILED', outcome: { reason: 'stopped' } });
  expect(view.outputs).toMatchObject([
    { path: 'partial', state: 'collected' },
    { path: 'never', state: 'missing' },
  ]);
  expect((await lab.yard(['logs', 'tree'])).stdout).toContain('bye');
}

describe('stopping a job ends its whole tree, keeps its last words and what it wrote', () => {
  it('by Ctrl-C while attached [C12] [C30] [S8]', async () => {
    const run = begin();
    await running(run);
    run.child.kill('SIGINT');
    const done = await run.finished;
    expect(done.code).toBe(125);
    expect(done.stderr).toMatch(/1 collected, 1 missing \(never\)/);
    const id = /(tree-\w{6})/.exec(done.stderr)?.[1] ?? '';
    expect(readFileSync(join(lab.folder, 'tree', 'outputs', id, 'partial'), 'utf8')).toBe('partial\n');
    await nothingLeft();
  });

  it('by yard stop from another process [C12] [S8]', async () => {
    const run = begin();
    await running(run);
    expect((await lab.yard(['stop', 'tree'])).code).toBe(0);
    expect((await run.finished).code).toBe(125);
    await nothingLeft();
  });

  // Behind a server no command brings a node: then a lost terminal only ends the watching.
  it.skipIf(isServed)('when the terminal is lost and the command had brought its own node', async () => {
    const run = begin();
    await running(run);
    run.child.kill('SIGHUP');
    await run.finished;
    await nothingLeft();
  });

  it('at once when Ctrl-C comes again', async () => {
    const folder = join(lab.folder, 'deaf');
    mkdirSync(folder);
    writeFileSync(
      join(folder, 'job.toml'),
      '[job]\nname = "deaf"\nrun = "trap : TERM; echo ready; while :; do sleep 0.1; done"\n[profile]\ngrace = "10m"\n',
    );
    const run = lab.start(['run'], { cwd: folder });
    await run.printed(/ready/);
    run.child.kill('SIGINT');
    await run.printed(/stopping/);
    run.child.kill('SIGINT');
    expect((await run.finished).code).toBe(125);
    expect(markedPids(lab.home)).toEqual([]);
  });
});

describe('a job that leaves processes behind', () => {
  it('has them ended before its place is free for the next one [C14]', async () => {
    const done = await lab.yard([
      'run',
      '--no-workspace',
      '--name',
      'leaky',
      '--',
      'sh',
      '-c',
      'setsid sleep 300 & echo left',
    ]);
    expect(done).toMatchObject({ code: 0, stdout: 'left\n' });
    expect(markedPids(lab.home)).toEqual([]);
  });

  it('leaves no command of yard exec behind either, when the job has ended by itself [C12] [C14]', async () => {
    expect((await lab.yard(['up', '--cpus', '2'])).code).toBe(0);
    const script = 'until test -e go; do sleep 0.05; done; exit 3';
    const id = (await lab.yard(['submit', '--no-workspace', '--', 'sh', '-c', script])).stdout.trim();
    const beside = lab.start(['exec', id, 'sh', '-c', 'echo beside; touch go; exec sleep 600']);
    await beside.printed(/beside/);
    expect((await lab.yard(['wait', id])).code).toBe(3);
    expect((await beside.finished).code).toBe(143);
  });

  it('nor when a supervised job has ended for good, which a restart in place is not [C12] [C14] [X1]', async () => {
    expect((await lab.yard(['up', '--cpus', '2'])).code).toBe(0);
    const restart = '{ policy = "on-failure", backoff = { initial = "0s", max = "0s" } }';
    const run = 'test -e again || { until test -e once; do sleep 0.05; done; touch again; exit 1; }; ';
    const end = 'touch second; until test -e go; do sleep 0.05; done';
    writeFileSync(
      join(lab.folder, 'job.toml'),
      `[job]\nname = "kept"\nrun = "${run}${end}"\n[profile]\nkind = "service"\nport = false\nrestart = ${restart}\n`,
    );
    const id = (await lab.yard(['submit', 'job.toml'])).stdout.trim();
    const script = 'touch once; until test -e second; do sleep 0.05; done; echo outlived; touch go; exec sleep 600';
    const beside = lab.start(['exec', id, 'sh', '-c', script]);
    await beside.printed(/outlived/);
    expect((await lab.yard(['wait', id])).code).toBe(0);
    expect((await beside.finished).code).toBe(143);
    expect(markedPids(lab.home)).toEqual([]);
  });
});

describe('yard exec', () => {
  /** Takes no notice of SIGTERM, as a shell with a terminal, and leaves a process that takes none of SIGHUP either. */
  const shell = `trap 'echo asked' TERM; (trap '' HUP; exec sleep 600) & echo up; while :; do sleep 0.05; done`;

  async function beginJob(): Promise<string> {
    expect((await lab.yard(['up', '--cpus', '2'])).code).toBe(0);
    const { stdout } = await lab.yard(['submit', '--no-workspace', '--', 'sh', '-c', 'echo runs; exec sleep 600']);
    await lab.start(['logs', '-f', stdout.trim()]).printed(/runs/);
    return stdout.trim();
  }

  async function beginBeside(): Promise<{ beside: Running; before: readonly number[] }> {
    const id = await beginJob();
    const before = markedPids(lab.home);
    const beside = lab.start(['exec', id, 'sh', '-c', shell]);
    await beside.printed(/up/);
    return { beside, before };
  }

  it('hangs up on the whole tree at the second SIGTERM, and the job runs on [C12]', async () => {
    const { beside, before } = await beginBeside();
    beside.child.kill('SIGTERM');
    await beside.printed(/asked/);
    beside.child.kill('SIGTERM');
    expect((await beside.finished).code).toBe(129);
    await until(() => markedPids(lab.home).every((pid) => before.includes(pid)), 'the end of its tree');
    expect(markedPids(lab.home)).toEqual(before);
  });

  // Behind a server the parent of the command is the agent.
  it.skipIf(isServed)('passes on a signal that comes as its command begins, and leaves none behind [C12]', async () => {
    const id = await beginJob();
    const script = `trap 'echo asked; exit 7' TERM; kill -TERM $PPID; while :; do sleep 0.05; done`;
    for (let round = 0; round < 12; round += 1) {
      const done = await lab.yard(['exec', id, 'sh', '-c', script]);
      expect(done).toMatchObject({ code: 7, stdout: 'asked\n' });
    }
  });

  it('hangs up as well when its terminal is lost [C12]', async () => {
    const { beside, before } = await beginBeside();
    beside.child.kill('SIGHUP');
    expect((await beside.finished).code).toBe(129);
    await until(() => markedPids(lab.home).every((pid) => before.includes(pid)), 'the end of its tree');
    expect(markedPids(lab.home)).toEqual(before);
  });
});
