import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Lab, openLab } from './lab.ts';

let lab: Lab;
beforeAll(() => {
  lab = openLab();
});
afterAll(() => lab.close());

async function job(id: string): Promise<{
  state: string;
  outcome: { reason: string; exitCode: number | null; signal: number | null; message: string };
}> {
  const { stdout } = await lab.yard(['jobs', id, '--json']);
  return JSON.parse(stdout);
}

function write(name: string, text: string): string {
  const folder = join(lab.folder, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'job.toml'), text);
  return folder;
}

describe('yard run tells the truth about how a job ended', () => {
  it('exits with the code of the command [S7]', async () => {
    const done = await lab.yard([
      'run',
      '--name',
      'seven',
      '--no-workspace',
      '--',
      'sh',
      '-c',
      'echo out; echo err >&2; exit 7',
    ]);
    expect(done.code).toBe(7);
    expect(done.stdout).toBe('out\n');
    expect(done.stderr).toContain('err\n');
    expect(await job('seven')).toMatchObject({
      state: 'FAILED',
      outcome: { reason: 'exit', exitCode: 7, signal: null },
    });
  });

  it('exits with 128+9 for a kill −9, and records the signal apart from a code [S7] [U1]', async () => {
    const done = await lab.yard(['run', '--name', 'killed', '--no-workspace', '--', 'sh', '-c', 'kill -9 $$']);
    expect(done.code).toBe(137);
    expect(await job('killed')).toMatchObject({ state: 'FAILED', outcome: { exitCode: null, signal: 9 } });
  });

  it('tells exit 137 from a kill −9', async () => {
    const done = await lab.yard(['run', '--name', 'code137', '--no-workspace', '--', 'sh', '-c', 'exit 137']);
    expect(done.code).toBe(137);
    expect(await job('code137')).toMatchObject({ outcome: { exitCode: 137, signal: null } });
  });

  it('exits with 124 when the time ran out [U1]', async () => {
    const done = await lab.yard(['run', '--name', 'late', '--no-workspace', '--timeout', '1s', '--', 'sleep', '60']);
    expect(done.code).toBe(124);
    expect(await job('late')).toMatchObject({ state: 'FAILED', outcome: { reason: 'timed-out' } });
  });

  it('exits with 127 for a missing program, and says so as a shell does', async () => {
    const done = await lab.yard(['run', '--no-workspace', '--', 'no-such-program-here']);
    expect(done.code).toBe(127);
    expect(done.stderr).toContain('no-such-program-here');
  });

  it('exits with 126 for a file that may not be executed', async () => {
    writeFileSync(join(lab.folder, 'plain-file'), 'text', { mode: 0o644 });
    const done = await lab.yard(['run', '--workspace', '.', '--', './plain-file']);
    expect(done.code).toBe(126);
  });

  it('exits with 3 when outputs are declared too: collecting never hides a failure [C16] [S5]', async () => {
    const folder = write(
      'outputs',
      '[job]\nname = "three"\nrun = "echo done > result; exit 3"\noutputs = ["result", "never"]\n',
    );
    const done = await lab.yard(['run'], { cwd: folder });
    expect(done.code).toBe(3);
    const view = JSON.parse((await lab.yard(['jobs', 'three', '--json'])).stdout);
    expect(view.outcome).toMatchObject({ reason: 'exit', exitCode: 3 });
    expect(view.outputs.map((output: { path: string; state: string }) => [output.path, output.state])).toEqual([
      ['result', 'collected'],
      ['never', 'missing'],
    ]);
    expect(readFileSync(join(folder, 'outputs', view.id, 'result'), 'utf8')).toBe('done\n');
  });
});

describe('setup', () => {
  it('that fails in a middle line fails the job, names the line, and run never starts [C17] [S6]', async () => {
    const folder = write(
      'setup-fails',
      '[job]\nname = "setup-fails"\nsetup = """\necho first\nfalse\necho ok\n"""\nrun = "echo ran > ran"\noutputs = ["ran"]\n',
    );
    const done = await lab.yard(['run'], { cwd: folder });
    expect(done.code).toBe(1);
    expect(done.stderr).toMatch(/setup .*line 2: false/);
    expect(done.stdout).toBe('');
    expect(done.stderr).toContain('first');
    expect(done.stderr).not.toContain('ok\n');
    const view = JSON.parse((await lab.yard(['jobs', 'setup-fails', '--json'])).stdout);
    expect(view).toMatchObject({
      state: 'FAILED',
      outcome: { reason: 'setup-failed', exitCode: 1 },
      outputs: [{ path: 'ran', state: 'missing' }],
    });
  });

  it('exits with its own code', async () => {
    const folder = write('setup-nine', '[job]\nname = "setup-nine"\nsetup = "exit 9"\nrun = "true"\n');
    expect((await lab.yard(['run'], { cwd: folder })).code).toBe(9);
  });
});

describe('shell text runs as a bash user expects', () => {
  it('with source, an unset variable, and a pipe whose first part fails', async () => {
    const folder = write(
      'bash',
      `[job]
name = "bash"
setup = "echo 'X=fromfile' > vars"
run = """
source ./vars
echo "x=$X lib=[$LD_LIBRARY_PATH]"
if false | tee x; then echo wrong; fi
echo reached
false | tee x
echo not-reached
"""
`,
    );
    const done = await lab.yard(['run'], { cwd: folder });
    expect(done.stdout).toBe('x=fromfile lib=[]\nreached\n');
    expect(done.code).toBe(1);
  });

  it('honours a first line that names an interpreter', async () => {
    const folder = write(
      'shebang',
      '[job]\nname = "shebang"\nrun = """#!/usr/bin/env node\nconsole.log(process.argv.slice(2).join("+"))\n"""\n',
    );
    const done = await lab.yard(['run', 'job.toml', '--', 'a b', 'c'], { cwd: folder });
    expect(done.stdout).toBe('a b+c\n');
    expect(done.code).toBe(0);
  });

  it('with an empty stdin', async () => {
    const done = await lab.yard(['run', '--no-workspace', '--', 'cat'], { input: 'not for the job' });
    expect(done).toMatchObject({ code: 0, stdout: '' });
  });
});
