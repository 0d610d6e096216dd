import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Lab, openLab, until } from './lab.ts';

let lab: Lab;
let isMounted = false;
beforeEach(() => {
  lab = openLab();
  mkdirSync(lab.home, { mode: 0o700 });
  const mount = ['-t', 'tmpfs', '-o', 'size=40m,mode=0700', 'none', lab.home];
  isMounted = spawnSync('mount', mount).status === 0;
});
afterEach(async () => {
  if (isMounted) execFileSync('umount', ['-l', lab.home]);
  await lab.close();
});

describe('a home on a disk that is almost full', () => {
  it('starts nothing, says so, and goes on by itself once there is room [U1]', async (test) => {
    test.skip(!isMounted, 'a disk of its own can be mounted by root only');
    const run = lab.start(['run', '--name', 'big', '--no-workspace', '--', 'sh', '-c', 'echo went on']);
    await run.printed(/waits for room on the disk of .*: [\d.]+ MiB free, 64 MiB needed to start \(yard prune\)/);
    const explained = await lab.yard(['explain', 'big']);
    expect(explained.stdout).toMatch(/^big-\w+ has its place on \S+ and waits for room on the disk/);
    execFileSync('mount', ['-o', 'remount,size=200m', lab.home]);
    expect(await run.finished).toMatchObject({ code: 0, stdout: 'went on\n' });
  });

  it('lets a service run on, starts no process of it again, says why, and does once there is room [B10] [X5]', async (test) => {
    test.skip(!isMounted, 'a disk of its own can be mounted by root only');
    execFileSync('mount', ['-o', 'remount,size=100m', lab.home]);
    writeFileSync(join(lab.folder, 'service.toml'), service);
    await lab.yard(['up', '--cpus', '2']);
    expect(await lab.yard(['apply', 'service.toml'])).toMatchObject({ code: 0 });
    const pid = await firstPid();
    // Room for facts, yet less than is kept for a start.
    writeFileSync(join(lab.home, 'filler'), Buffer.alloc(60 * 1024 * 1024));
    expect(isAlive(pid)).toBe(true);
    process.kill(pid, 'SIGKILL');
    await until(async () => (await lab.yard(['explain', 'still'])).stdout.includes(' waits for room on the disk of '));
    execFileSync('mount', ['-o', 'remount,size=300m', lab.home]);
    await until(async () => (await firstPid()) !== pid, 'the next run');
    await until(async () => (await lab.yard(['services'])).stdout.includes('1/1'), 'a ready replica');
    expect(await lab.yard(['down', '--stop'])).toMatchObject({ code: 0 });
  });

  it('that fills up under a job lets go of it at the second Ctrl-C, though no stop can be written', async (test) => {
    test.skip(!isMounted, 'a disk of its own can be mounted by root only');
    execFileSync('mount', ['-o', 'remount,size=100m', lab.home]);
    const run = lab.start(['run', '--name', 'stays', '--no-workspace', '--', 'sh', '-c', 'echo $$; exec sleep 300']);
    await run.printed(/^\d+\n/);
    const pid = Number(run.stdout());
    fillDisk(lab.home);
    run.child.kill('SIGINT');
    await run.printed(/the stop could not be written: the disk that holds the log is full; make room, or Ctrl-C again/);
    expect(isAlive(pid)).toBe(true);
    run.child.kill('SIGINT');
    const { code, stderr } = await run.finished;
    expect(stderr).toMatch(/what it ran here has been ended\n {2}make room, then yard stop stays-\w+\n$/);
    expect([code, isAlive(pid)]).toEqual([125, false]);

    execFileSync('mount', ['-o', 'remount,size=300m', lab.home]);
    expect(await lab.yard(['stop', 'stays'])).toMatchObject({ code: 0 });
    expect(await lab.yard(['run', '--no-workspace', '--', 'true'])).toMatchObject({ code: 0 });
    expect((await lab.yard(['jobs', 'stays'])).stdout).toMatch(/state +FAILED +stopped by/);
  });

  it('that a job filled with its own outputs is why it waits, until there is room for them [B10] [S5]', async (test) => {
    test.skip(!isMounted, 'a disk of its own can be mounted by root only');
    execFileSync('mount', ['-o', 'remount,size=100m', lab.home]);
    const file = '[job]\nname = "hog"\nrun = "cat /dev/zero > hog || true"\noutputs = ["hog"]\n';
    writeFileSync(join(lab.folder, 'job.toml'), file);
    const run = lab.start(['run']);
    await run.printed(/waits for room on the disk of .*: 0 B free, and what happens to it cannot be written down/);
    execFileSync('mount', ['-o', 'remount,size=140m', lab.home]);
    await run.printed(/waits for room on the disk of .*: [\d.]+ MiB free, its outputs need more \(yard prune\)/);
    execFileSync('mount', ['-o', 'remount,size=400m', lab.home]);
    expect(await run.finished).toMatchObject({ code: 0, stderr: expect.stringContaining('1 collected') });
  });

  it('that fills up is no reason to outlive a lost terminal', async (test) => {
    test.skip(!isMounted, 'a disk of its own can be mounted by root only');
    execFileSync('mount', ['-o', 'remount,size=100m', lab.home]);
    const run = lab.start(['run', '--no-workspace', '--', 'sh', '-c', 'echo $$; exec sleep 300']);
    await run.printed(/^\d+\n/);
    const pid = Number(run.stdout());
    fillDisk(lab.home);
    run.child.kill('SIGHUP');
    expect(await run.finished).toMatchObject({ code: 125 });
    expect(isAlive(pid)).toBe(false);
  });

  it('refuses a workspace that does not fit, and keeps nothing of it', async (test) => {
    test.skip(!isMounted, 'a disk of its own can be mounted by root only');
    writeFileSync(join(lab.folder, 'big'), Buffer.alloc(60 * 1024 * 1024, 'x'));
    const refused = await lab.yard(['run', '--', 'true']);
    expect(refused.code).toBe(125);
    expect(refused.stderr).toMatch(
      /error: the disk of .* has no room for the workspace; nothing was submitted\n {2}yard prune/,
    );
    expect((await lab.yard(['jobs', '--all', '--json'])).stdout.trim()).toBe('[]');
  });
});

const service = `[service]
name = "still"
run = "echo $$; exec sleep 300"

[profile]
port = false
restart = { backoff = { initial = "0s", max = "0s" } }
rollout = { minReady = "0s" }
`;

/** What the latest run of the service printed first. */
async function firstPid(): Promise<number> {
  let text = '';
  await until(async () => {
    text = (await lab.yard(['logs', 'still'])).stdout.trim();
    return text !== '';
  }, 'its first line');
  return Number(text.split(/\s+/).at(-1));
}

/** To the last block: dd ends when a write fails. */
function fillDisk(directory: string): void {
  spawnSync('dd', ['if=/dev/zero', `of=${join(directory, 'filler')}`, 'bs=4096'], { stdio: 'ignore' });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
