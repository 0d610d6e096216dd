import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildYard, makePlace, type Place } from './yard.testsuite.ts';

beforeAll(buildYard);

async function inPlace(use: (place: Place) => Promise<void>): Promise<void> {
  const place = makePlace();
  try {
    await use(place);
  } finally {
    place.remove();
  }
}

const bare = ['run', '--no-workspace', '--'];

describe.concurrent('yard run with no node running', () => {
  it('exits as the job does, and keeps stdout for the job [S7] [G8] [G15]', async () => {
    await inPlace(async ({ yard }) => {
      const seven = await yard(...bare, 'sh', '-c', 'echo out; echo err >&2; exit 7');
      expect([seven.code, seven.stdout]).toEqual([7, 'out\n']);
      expect(seven.stderr).toMatch(
        /^sh-\w{6} {2}running on .*\nerr\nsh-\w{6} {2}FAILED {2}exited with code 7\n {2}yard logs/,
      );
      const killed = await yard(...bare, 'sh', '-c', 'kill -9 $$');
      expect(killed.code).toBe(137);
      const view = JSON.parse((await yard('jobs', 'sh', '--json')).stdout) as { outcome: unknown };
      expect(view.outcome).toMatchObject({ reason: 'exit', exitCode: null, signal: 9 });
      expect((await yard(...bare, './not-there')).code).toBe(127);
    });
  });

  it('exits with 124 after its timeout [S11]', async () => {
    await inPlace(async ({ yard }) => {
      const { code, stderr } = await yard('run', '--no-workspace', '--timeout', '200ms', '--', 'sleep', '60');
      expect(code).toBe(124);
      expect(stderr).toContain('--timeout 400ms');
    });
  });

  it('pushes, sets up, runs with arguments and brings outputs home [S4] [S5] [S6] [C30]', async () => {
    await inPlace(async ({ yard, directory }) => {
      const file = `[job]
name = "demo"
setup = "echo in setup; echo made > by-setup"
run = "cat by-setup; printf '%s\\\\n' \\"$A\\"; echo \\"$@\\"; echo x > a.txt"
workspace = { workdir = "." }
outputs = ["a.txt", "b.txt", "*.x"]
env = { A = "$HOME 'quoted' \\\\ \\"ü\\"\\nsecond" }
`;
      writeFileSync(join(directory, 'job.toml'), file);
      const { code, stdout, stderr } = await yard('run', 'job.toml', '--', 'one', 'two words');
      expect([code, stdout]).toEqual([0, `made\n$HOME 'quoted' \\ "ü"\nsecond\none two words\n`]);
      expect(stderr).toContain('in setup\n');
      const [id = ''] = readdirSync(join(directory, 'outputs'));
      expect(stderr).toContain(`outputs             1 collected, 2 missing (b.txt, *.x) → outputs/${id}\n`);
      expect(stderr).toContain('patterns are not expanded: *.x (name each file');
      expect((await yard('outputs', id, '--list')).stdout).toMatch(/\*\.x +missing .* patterns are not expanded/);
      expect(readdirSync(join(directory, 'outputs', id))).toEqual(['a.txt']);
      const again = await yard('run', '--from', id, '--set', 'env.A=other', '--to', 'elsewhere');
      expect([again.code, again.stdout]).toEqual([0, 'made\nother\none two words\n']);
      expect(readFileSync(join(directory, 'elsewhere/a.txt'), 'utf8')).toBe('x\n');
    });
  });

  it('says of a file that setupReuse names and is not there that no change of it starts setup anew [S6]', async () => {
    await inPlace(async ({ yard, directory }) => {
      const profile = '[profile]\nsetupReuse = ["there", "tpyo"]\n';
      const job = '[job]\nname = "demo"\nsetup = "true"\nrun = "true"\nworkspace = { workdir = "sub" }\n';
      mkdirSync(join(directory, 'sub'));
      writeFileSync(join(directory, 'sub/there'), '');
      writeFileSync(join(directory, 'job.toml'), job + profile);
      const { code, stderr } = await yard('run');
      expect(code).toBe(0);
      expect(stderr).toContain('setupReuse names what is not in the workspace: tpyo (');
    });
  });

  it('shows the line of setup that failed, exits with its code, and never starts run [S6] [C17]', async () => {
    await inPlace(async ({ yard, directory }) => {
      const file =
        '[job]\nname = "bad-setup"\nsetup = """\nfalse\necho ok\n"""\nrun = "touch ran"\noutputs = ["ran"]\n';
      writeFileSync(join(directory, 'job.toml'), file);
      const { code, stderr } = await yard('run');
      expect(code).toBe(1);
      expect(stderr).toMatch(/FAILED {2}.*false/);
      expect(stderr).not.toContain('running on');
      expect(existsSync(join(directory, 'outputs'))).toBe(false);
    });
  });

  it('ends what can never run here with 125 [U1] [G7]', async () => {
    await inPlace(async ({ yard }) => {
      const { code, stderr } = await yard('run', '--no-workspace', '--cpus', '4000', '--', 'true');
      expect(code).toBe(125);
      expect(stderr).toMatch(/FAILED {2}needs 4000 cores, the largest node has \d+ cores/);
    });
  });

  it('stops the job at Ctrl-C, children in sessions of their own included [S8] [C12]', async () => {
    await inPlace(async ({ start, yard }) => {
      const unique = `99.${process.pid}`;
      const script = `(trap "echo bye; exit" TERM; echo up; sleep 99 & wait) & setsid sleep ${unique} & wait`;
      const running = start(...bare, 'sh', '-c', script);
      await running.said(/up\n/);
      running.child.kill('SIGINT');
      const { code, stdout, stderr } = await running.ended;
      expect([code, stdout]).toEqual([125, 'up\nbye\n']);
      expect(stderr).toMatch(/stopping sh-\w{6} \(grace 30 s\)/);
      expect((await yard('logs', 'sh')).stdout).toBe('up\nbye\n');
      expect(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })).not.toContain(`sleep ${unique}\n`);
    });
  });

  it('stops the job when the terminal is lost [S8]', async () => {
    await inPlace(async ({ start, yard }) => {
      const running = start(...bare, 'sh', '-c', 'echo up; sleep 99');
      await running.said(/up\n/);
      running.child.kill('SIGHUP');
      expect((await running.ended).code).toBe(125);
      expect((await yard('jobs')).stdout).toMatch(/sh-\w{6} +FAILED .*stopped/);
    });
  });

  it('queues behind another command that serves the node, and takes over from it [B3]', async () => {
    await inPlace(async ({ start, yard }) => {
      const first = start(...bare, 'sh', '-c', 'echo up; sleep 0.6');
      await first.said(/up\n/);
      const second = await yard(...bare, 'sh', '-c', 'sleep 1.2; echo second; exit 9');
      expect([second.code, second.stdout]).toEqual([9, 'second\n']);
      expect((await first.ended).code).toBe(0);
    });
  });
});

describe.concurrent('yard up and down', () => {
  it('serve jobs in the background; without one submit says what to do [B3] [U4]', async () => {
    await inPlace(async ({ yard, start }) => {
      const refused = await yard('submit', '--no-workspace', '--', 'true');
      expect([refused.code, refused.stderr]).toEqual([
        1,
        'error: no node is running here\n  yard up starts one in the background; yard run brings its own\n',
      ]);
      expect((await yard('up')).stdout).toMatch(/ready .* pid \d+/);
      try {
        expect((await yard('up')).stdout).toContain('runs already');
        const id = (await yard('submit', '--no-workspace', '--', 'sh', '-c', 'echo up; sleep 99')).stdout.trim();
        await start('logs', '-f', id).said(/up\n/);
        const exec = await yard('exec', id, 'sh', '-c', 'echo $RUNYARD_JOB; exit 4');
        expect([exec.code, exec.stdout]).toEqual([4, `${id}\n`]);
        const attached = start('attach', id);
        await attached.said(/running on/);
        attached.child.kill('SIGQUIT');
        expect((await attached.ended).code).toBe(0);
        expect((await yard('down')).stderr).toContain('--drain waits for it, --stop stops it, --keep');
        expect((await yard('down', '--keep')).code).toBe(0);
        expect((await yard('up')).code).toBe(0);
        expect((await yard('jobs')).stdout).toMatch(new RegExp(`${id} +RUNNING`));
        expect((await yard('down', '--stop')).code).toBe(0);
        expect((await yard('wait', id)).code).toBe(125);
      } finally {
        await yard('down', '--stop');
      }
      expect((await yard('down')).stdout).toContain('no agent runs in the background');
    });
  });
});

it.concurrent('says at once that a join token is not there, and tries nothing again', async () => {
  await inPlace(async ({ yard }) => {
    const { code, stderr } = await yard('up', '--server', 'https://127.0.0.1:9', '--token-file', 'nowhere');
    expect(code).toBe(1);
    expect(stderr).toContain('work/nowhere does not exist\n');
    expect(stderr).not.toContain('started again in');
  });
});

describe.concurrent('what cannot be meant', () => {
  it('is refused with the line and what to do, as a person and as a script reads it [S1]', async () => {
    await inPlace(async ({ yard, directory }) => {
      writeFileSync(join(directory, 'job.toml'), '[job]\nname = "a"\nrun = "b"\ngpus = 1\n');
      const person = await yard('run');
      expect([person.code, person.stdout, person.stderr]).toEqual([
        125,
        '',
        `error: unknown key "gpus" in [job]
  job.toml:4  gpus = 1
              ^^^^
  [job] says what to do; needs go into [profile]:
    [profile]
    resources = { gpus = 1 }
`,
      ]);
      const script = await yard('submit', '--json');
      expect(JSON.parse(script.stderr)).toMatchObject({ error: { code: 'UNKNOWN_KEY', path: 'job.gpus' } });
      const command = await yard('run', 'python', 'train.py');
      expect([command.code, command.stderr]).toEqual([
        125,
        'error: "python" is not a job file\n  for a command: yard run -- python train.py\n',
      ]);
    });
  });

  it('is a home that others can read [R4.26]', async () => {
    await inPlace(async ({ yard, home }) => {
      mkdirSync(home, { mode: 0o755 });
      const { code, stderr } = await yard('jobs');
      expect([code, stderr]).toEqual([1, expect.stringContaining(`chmod 700 ${home}`)]);
      expect((await yard('doctor')).code).toBe(1);
    });
  });
});

it.concurrent('previews with origins and submits nothing [X33]', async () => {
  await inPlace(async ({ yard }) => {
    const { code, stdout } = await yard('run', '--no-workspace', '--dry-run', '--memory', '1GiB', '--', 'true');
    expect(code).toBe(0);
    expect(stdout).toMatch(/resources\.memory +--memory +"1GiB"/);
    expect((await yard('jobs', '--json', '--all')).stdout).toBe('[]\n');
  });
});

describe.concurrent('yard apply with no node running', () => {
  const web = '[service]\nname = "web"\nrun = "sleep 60"\n';

  it('records services and profiles in order, and says what they wait for [X20]', async () => {
    await inPlace(async ({ yard, directory }) => {
      writeFileSync(join(directory, 'big.toml'), '[profile]\nname = "big"\nreplicas = 3\n');
      writeFileSync(join(directory, 'web.toml'), `profile = "big"\n${web}`);
      const { code, stdout, stderr } = await yard('apply', 'big.toml', 'web.toml');
      expect([code, stdout]).toEqual([0, 'big  revision 1\nweb  revision 1\n']);
      expect(stderr).toBe('web waits: no node is running here\n  yard up\n');
      expect((await yard('apply', 'big.toml', 'web.toml')).stdout).toBe('big  unchanged\nweb  unchanged\n');
      expect((await yard('services')).stdout).toMatch(/web +UPDATING +0\/3 +1 +.*no node is running/);
      expect((await yard('explain', 'web')).stdout).toMatch(/replicas +profile big@1 +3\n/);
    });
  });

  it('applies nothing where one of the files is wrong, and names its line [R4.9] [U7]', async () => {
    await inPlace(async ({ yard, directory }) => {
      writeFileSync(join(directory, 'web.toml'), web);
      const write = (text: string): void => writeFileSync(join(directory, 'wrong.toml'), text);
      write(`${web}[profile]\nreplicas = 1.5\n`);
      const wrong = await yard('apply', 'web.toml', 'wrong.toml');
      expect([wrong.code, wrong.stdout]).toEqual([1, '']);
      expect(wrong.stderr).toContain('  wrong.toml:5  replicas = 1.5\n                ^^^^^^^^\n');
      write(`${web}env = { TOKEN = { secret = "hf" } }\n`);
      expect((await yard('apply', 'wrong.toml')).stderr).toContain(
        'error: secret "hf" is not set (wrong.toml:4 env.TOKEN)\n',
      );
      write('[job]\nname = "a"\nrun = "b"\n');
      expect((await yard('apply', 'wrong.toml')).stderr).toContain('  yard submit takes jobs\n');
      expect((await yard('apply', 'nowhere.toml')).code).toBe(2);
      expect((await yard('services', '--json')).stdout).toBe('[]\n');
      expect((await yard('services', 'scale', 'web', 'two')).code).toBe(2);
      expect((await yard('services', 'web')).stderr).toContain('there is no service "web"\n  yard apply its file');
    });
  });
});
