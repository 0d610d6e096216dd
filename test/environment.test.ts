import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Lab, openLab } from './lab.ts';

let lab: Lab;
beforeAll(() => {
  lab = openLab();
});
afterAll(() => lab.close());

const awkward =
  'first line\nsecond "double" \'single\' $HOME `date` \\back\\\\slash\ttab – ünïcödé 🚀 %s $(id) ;&|<>*?[a] trailing space \n';

describe('an environment value arrives byte for byte', () => {
  it('in setup, in run and in exec, and so does one under a name with a dot', async () => {
    const folder = join(lab.folder, 'env');
    mkdirSync(folder);
    const document = {
      job: {
        name: 'env',
        setup: [
          'node',
          '-e',
          'require("fs").writeFileSync("setup.json", JSON.stringify([process.env.A, process.env["b.c"]]))',
        ],
        run: [
          'node',
          '-e',
          'require("fs").writeFileSync("run.json", JSON.stringify([process.env.A, process.env["b.c"]])); console.log("ready"); process.on("SIGTERM", () => process.exit(0)); setInterval(() => {}, 1000)',
        ],
        outputs: ['setup.json', 'run.json'],
        env: { A: awkward, 'b.c': awkward },
      },
    };
    const run = lab.start(['run', '-', '--to', join(folder, 'out')], { cwd: folder, input: JSON.stringify(document) });
    await run.printed(/ready/);
    const exec = await lab.yard([
      'exec',
      'env',
      'node',
      '-e',
      'process.stdout.write(JSON.stringify([process.env.A, process.env["b.c"]]))',
    ]);
    expect(JSON.parse(exec.stdout)).toEqual([awkward, awkward]);
    run.child.kill('SIGINT');
    await run.finished;
    expect(JSON.parse(readFileSync(join(folder, 'out', 'setup.json'), 'utf8'))).toEqual([awkward, awkward]);
    expect(JSON.parse(readFileSync(join(folder, 'out', 'run.json'), 'utf8'))).toEqual([awkward, awkward]);
  });

  it("and nothing else of the submitter's shell goes along, nor what would change a program at its start [R4.8]", async () => {
    const env = {
      SECRET_OF_SHELL: 'canary',
      LD_PRELOAD_X: '1',
      NODE_OPTIONS: '--no-warnings',
      PYTHONSTARTUP: '/nonexistent',
    };
    const done = await lab.yard(['run', '--no-workspace', '--env', 'LD_LIBRARY_PATH=/mine', '--', 'env'], { env });
    expect(done.code).toBe(0);
    expect(done.stdout).not.toMatch(/canary|NODE_OPTIONS|PYTHONSTARTUP|LD_PRELOAD_X/);
    expect(done.stdout).toContain('LD_LIBRARY_PATH=/mine\n');
    expect(done.stdout).toMatch(/RUNYARD_JOB=env-\w{6}\n/);
  });

  it('up to a large size [R4.7]', async () => {
    const folder = join(lab.folder, 'large');
    mkdirSync(folder);
    const value = 'v'.repeat(120_000);
    const env = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`BIG${index}`, value]));
    writeFileSync(
      join(folder, 'job.json'),
      JSON.stringify({ job: { name: 'large', run: 'echo ${#BIG0} ${#BIG11}', env } }),
    );
    const tooLarge = await lab.yard(['run', '-'], {
      cwd: folder,
      input: readFileSync(join(folder, 'job.json'), 'utf8'),
    });
    expect(tooLarge).toMatchObject({ code: 125 });
    expect(tooLarge.stderr).toMatch(/1 MiB/);
    const fits = {
      job: { name: 'large', run: 'echo ${#BIG0} ${#BIG6}', env: Object.fromEntries(Object.entries(env).slice(0, 7)) },
    };
    const done = await lab.yard(['run', '-'], { cwd: folder, input: JSON.stringify(fits) });
    expect(done).toMatchObject({ code: 0, stdout: '120000 120000\n' });
  });
});
