import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Lab, openLab } from './lab.ts';

let lab: Lab;
beforeAll(async () => {
  lab = openLab();
  expect((await lab.yard(['up', '--cpus', '4'])).code).toBe(0);
});
afterAll(() => lab.close());

const quick = ['--no-workspace', '--'];

describe('a part that a job does not have', () => {
  it('is refused wherever it is named, and does not stand for the whole', async () => {
    const script = 'echo part $RUNYARD_INDEX; exit $RUNYARD_INDEX';
    const { stdout } = await lab.yard(['submit', '--name', 'three', '--array', '3', ...quick, 'sh', '-c', script]);
    const id = stdout.trim();
    expect((await lab.yard(['wait', id])).code).toBe(1);
    const commands = ['wait', 'logs', 'jobs', 'stop', 'outputs', 'explain', 'exec', 'attach', 'retry', 'events'];
    const refused = `error: ${id} has no index 3\n  it has 3, 0 to 2: yard jobs ${id}\n`;
    const refuse = async (command: string): Promise<void> => {
      const { code, stdout, stderr } = await lab.yard([command, `${id}/3`]);
      const exit = command === 'wait' || command === 'attach' ? 125 : 1;
      expect([command, code, stdout, stderr]).toEqual([command, exit, '', refused]);
    };
    await Promise.all(commands.map(refuse));
    expect((await lab.yard(['wait', `${id}/0`])).code).toBe(0);
    expect((await lab.yard(['wait', `${id}/2`])).code).toBe(2);
    expect((await lab.yard(['logs', `${id}/2`])).stdout).toBe('part 2\n');
    expect((await lab.yard(['jobs', `${id}/2`])).stdout).toMatch(
      /^three-\w+\/2\n {2}state {6}FAILED {2}exited with code 2/,
    );
    const [zero, two] = await Promise.all([0, 2].map((part) => lab.yard(['jobs', `${id}/${part}`, '--json'])));
    expect(JSON.parse(zero?.stdout ?? '')).toMatchObject({ id, state: 'COMPLETED', tasks: [{ index: 0 }] });
    expect(JSON.parse(two?.stdout ?? '')).toMatchObject({ id, state: 'FAILED', tasks: [{ index: 2, exitCode: 2 }] });
  });

  it('is refused of a job with one task, and of an array that has only some of the indices', async () => {
    const one = (await lab.yard(['submit', '--name', 'one', ...quick, 'true'])).stdout.trim();
    expect((await lab.yard(['logs', `${one}/1`])).stderr).toContain(`${one} has no rank 1\n  its only one is ${one}/0`);
    const again = (await lab.yard(['retry', 'three', '--failed'])).stdout.trim();
    expect((await lab.yard(['logs', `${again}/0`])).stderr).toContain(`has no index 0\n  it has 2, 1 to 2`);
    expect((await lab.yard(['wait', `${again}/2`])).code).toBe(2);
  });
});

describe('a dry run', () => {
  it('is refused for what the submission would be refused for, and submits nothing [X33]', async () => {
    const refused = async (...options: string[]): Promise<string> => {
      const { code, stdout, stderr } = await lab.yard(['run', '--dry-run', ...options, ...quick, 'true']);
      expect([code, stdout]).toEqual([125, '']);
      return stderr;
    };
    expect(await refused('--project', 'nowhere')).toContain('"nowhere"');
    expect(await refused('--project', 'nowhere')).toMatch(/there are: .*default/);
    expect(await refused('--timeout', '0s')).toContain('profile.timeout is 0.0 s; expected a duration above 0');
    expect(await refused('--secret', 'S')).toContain('secret "S" is not set');
    const fits = await lab.yard(['run', '--dry-run', '--cpus', '2', ...quick, 'true']);
    expect([fits.code, fits.stdout]).toEqual([0, expect.stringContaining('would go to ')]);
    expect((await lab.yard(['jobs', 'true'])).stderr).toContain('there is no job true');
    const elsewhere = await lab.yard(['run', '--dry-run', '--workspace', 'nowhere', '--', 'true']);
    expect([elsewhere.code, elsewhere.stdout]).toEqual([125, '']);
    expect(elsewhere.stderr).toContain(`${lab.folder}/nowhere`);
  });

  it("looks at the project's quota [X33] [X21]", async () => {
    expect((await lab.yard(['projects', 'create', 'small', '--quota', 'cores=1'])).code).toBe(0);
    const dry = ['submit', '--dry-run', '--project', 'small'];
    const over = await lab.yard([...dry, '--cpus', '2', ...quick, 'true']);
    expect([over.code, over.stdout]).toEqual([
      0,
      expect.stringContaining('would wait: needs 2 cores, project small may use 1 in all'),
    ]);
    expect((await lab.yard([...dry, '--cpus', '1', ...quick, 'true'])).stdout).toContain('would go to ');
  });
});

describe('a list of jobs', () => {
  it('of a project that is not there is refused, with those that there are', async () => {
    for (const command of ['jobs', 'secrets']) {
      const { code, stdout, stderr } = await lab.yard([command, '--project', 'moon']);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(/there is no project "moon"\n +there are: .*default/);
    }
  });
});

describe('explain', () => {
  it('says what a job waits for in a sentence [B10]', async () => {
    const explain = async (id: string): Promise<string | undefined> =>
      (await lab.yard(['explain', id])).stdout.split('\n')[0];
    const submit = async (...options: string[]): Promise<string> =>
      (await lab.yard(['submit', ...options, ...quick, 'sleep', '60'])).stdout.trim();
    const big = await submit('--name', 'big', '--cpus', '64');
    expect(await explain(big)).toBe(`${big} is PENDING: it needs 64 cores, the largest node has 4 cores`);
    const few = await submit('--name', 'few', '--array', '3', '--set', 'array.maxRunning=1');
    await lab.yard(['wait', 'one']);
    expect(await explain(few)).toMatch(/: 1 of it runs on .*; the rest waits: it runs 1 at once, as many as it may$/);
    expect((await lab.yard(['stop', '--grace', '0s', few, big])).code).toBe(0);
    await lab.yard(['wait', few]);
    const nodes = JSON.parse((await lab.yard(['nodes', '--json'])).stdout) as { id: string }[];
    await lab.yard(['nodes', 'drain', nodes[0]?.id ?? '']);
    const held = await submit('--name', 'held');
    expect(await explain(held)).toBe(`${held} is PENDING: the nodes that fit are being drained`);
  });
});
