import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Lab, openLab } from './lab.ts';

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
