import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Finished, type Lab, openLab } from './lab.ts';

describe('where outputs land', () => {
  let lab: Lab;
  beforeEach(() => {
    lab = openLab();
  });
  afterEach(() => lab.close());

  it('is looked at before anything runs: a file in its place refuses the job', async () => {
    writeFileSync(join(lab.folder, 'taken'), '');
    const refused = await run(['--to', 'taken'], 'echo 1 > out');
    expect(refused).toMatchObject({ code: 125, stdout: '' });
    expect(refused.stderr).toMatch(
      /^error: outputs cannot land in .*taken: .*taken is a file\n {2}land elsewhere with --to DIR\n$/,
    );
    expect((await lab.yard(['jobs', '--all', '--json'])).stdout.trim()).toBe('[]');
  });

  it('may be lost while the job runs: the job has ended as it has, and its outputs land elsewhere', async () => {
    const place = join(lab.folder, 'land');
    const lost = await run(['--to', 'land'], `echo 1 > out; echo > '${place}'`);
    expect(lost.code).toBe(125);
    expect(lost.stderr).toMatch(
      /COMPLETED .*\nerror: outputs cannot land in .*land: a file is in its place\n {2}yard outputs lands-\w+ --to DIR\n$/,
    );
    const landed = await lab.yard(['outputs', 'lands', '--to', 'other']);
    expect(landed.code).toBe(0);
    expect(readFileSync(join(lab.folder, 'other/out'), 'utf8')).toBe('1\n');
    rmSync(place);
    const failed = await run(['--to', 'land'], `echo 1 > out; echo > '${place}'; exit 3`);
    expect(failed.code).toBe(3);
  });

  it('keeps a folder where a file would land, and names both [R4.17]', async () => {
    mkdirSync(join(lab.folder, 'land/out/inner'), { recursive: true });
    const conflict = await run(['--to', 'land'], 'echo 1 > out');
    expect(conflict.code).toBe(125);
    expect(conflict.stderr).toMatch(/error: a file cannot land at .*land\/out: a directory is there/);
    expect(existsSync(join(lab.folder, 'land/out/inner'))).toBe(true);
  });

  it('may be anywhere: from a directory that was removed one still sees and stops jobs', async () => {
    const gone = join(lab.folder, 'gone');
    mkdirSync(gone);
    const inGone = (command: string): Promise<Finished> =>
      lab.shell(`cd '${gone}' && rmdir '${gone}' && exec ${command}`);
    expect(await inGone('yard jobs --json')).toMatchObject({ code: 0, stdout: '[]\n' });
    mkdirSync(gone);
    const refused = await inGone('yard run -- true');
    expect(refused.code).toBe(125);
    expect(refused.stderr).toMatch(/^error: the current directory no longer exists/);
  });

  function run(options: readonly string[], script: string): Promise<Finished> {
    const job = ['run', '--name', 'lands', '--no-workspace', '--output', 'out', ...options];
    return lab.yard([...job, '--', 'sh', '-c', script]);
  }
});
